(* Histograms with and without a release map (reference.py: histogram, release).
   A row has one place and adds one vector of the rule there.  `measure` is the absolute value (L1) or the square (L2). *)
From Coq Require Import ZArith List Lia Arith Bool.
From Tacit Require Import finite_sums.
Import ListNotations. Open Scope Z_scope.

Section Histogram.
Variable Row : Type.
Variable place : Row -> nat.
Variable rule : Row -> nat -> Z.
Variables cells channels outputs : nat.
Variable map : nat -> nat -> Z.
Hypothesis placed : forall r, (place r < cells)%nat.

Definition part (r : Row) (k c : nat) : Z := if Nat.eqb k (place r) then rule r c else 0.
Definition histogram (rows : list Row) (k c : nat) : Z := fold_right (fun r s => part r k c + s) 0 rows.
Definition release (rows : list Row) (o c : nat) : Z := sum cells (fun k => map o k * histogram rows k c).
Definition total (measure : Z -> Z) (m : nat) (f : nat -> nat -> Z) : Z :=
  sum m (fun k => sum channels (fun c => measure (f k c))).
Definition length_of (measure : Z -> Z) (r : Row) : Z := sum channels (fun c => measure (rule r c)).
Definition column (measure : Z -> Z) (k : nat) : Z := sum outputs (fun o => measure (map o k)).

Lemma histogram_cons r l k c : histogram (r :: l) k c = part r k c + histogram l k c.
Proof. reflexivity. Qed.
Lemma histogram_app a b k c : histogram (a ++ b) k c = histogram a k c + histogram b k c.
Proof. induction a; [reflexivity|]. rewrite <- app_comm_cons, !histogram_cons, IHa. lia. Qed.
Lemma added a r b k c : histogram (a ++ r :: b) k c - histogram (a ++ b) k c = part r k c.
Proof. rewrite !histogram_app, histogram_cons. lia. Qed.

Lemma total_part measure (zero : measure 0 = 0) r : total measure cells (part r) = length_of measure r.
Proof.
  unfold total, part. rewrite (sum_ext cells _ (fun k => if Nat.eqb k (place r) then length_of measure r else 0)).
  - rewrite (sum_at cells (place r) (fun _ => length_of measure r)). now rewrite (proj2 (Nat.ltb_lt _ _) (placed r)).
  - intros k _. destruct (Nat.eqb k (place r)); [reflexivity|]. now apply sum_of_zeros.
Qed.

(* A row that is added or removed, wherever it stands, moves the histogram by its own vector. *)
Theorem add_or_remove measure (zero : measure 0 = 0) a r b :
  total measure cells (fun k c => histogram (a ++ r :: b) k c - histogram (a ++ b) k c) = length_of measure r.
Proof.
  rewrite <- (total_part measure zero r). unfold total. apply sum_ext. intros. apply sum_ext. intros. now rewrite added.
Qed.

(* A replaced row moves two cells by a vector each, or one cell by a difference. *)
Theorem replace measure (zero : measure 0 = 0) (even : forall x, measure (- x) = measure x) a r s b :
  total measure cells (fun k c => histogram (a ++ r :: b) k c - histogram (a ++ s :: b) k c) =
  if Nat.eqb (place r) (place s) then sum channels (fun c => measure (rule r c - rule s c))
  else length_of measure r + length_of measure s.
Proof.
  assert (D : forall k c, histogram (a ++ r :: b) k c - histogram (a ++ s :: b) k c = part r k c - part s k c)
    by (intros; rewrite !histogram_app, !histogram_cons; lia).
  unfold total. erewrite (sum_ext cells); [|intros; apply sum_ext; intros; now rewrite D].
  destruct (Nat.eqb_spec (place r) (place s)) as [E|N].
  - rewrite (sum_ext cells _ (fun k => if Nat.eqb k (place s) then sum channels (fun c => measure (rule r c - rule s c)) else 0)).
    + rewrite (sum_at cells (place s) (fun _ => sum channels (fun c => measure (rule r c - rule s c)))).
      now rewrite (proj2 (Nat.ltb_lt _ _) (placed s)).
    + intros k _. unfold part. rewrite E. destruct (Nat.eqb k (place s)); [reflexivity|].
      apply sum_of_zeros. intros. now rewrite Z.sub_diag.
  - rewrite <- (total_part measure zero r), <- (total_part measure zero s). unfold total. rewrite <- sum_add.
    apply sum_ext. intros k _. rewrite <- sum_add. apply sum_ext. intros c _. unfold part.
    destruct (Nat.eqb_spec k (place r)) as [A|A], (Nat.eqb_spec k (place s)) as [B|B].
    + exfalso. apply N. now rewrite <- A, <- B.
    + rewrite Z.sub_0_r, zero. apply eq_sym, Z.add_0_r.
    + rewrite Z.sub_0_l, even, zero. apply eq_sym, Z.add_0_l.
    + now rewrite Z.sub_0_r, zero.
Qed.

Lemma released a r b o c : release (a ++ r :: b) o c - release (a ++ b) o c = map o (place r) * rule r c.
Proof.
  unfold release. replace (map o (place r) * rule r c) with (sum cells (fun k => map o k * part r k c)).
  - rewrite (sum_ext cells (fun k => map o k * histogram (a ++ r :: b) k c)
      (fun k => map o k * histogram (a ++ b) k c + map o k * part r k c)), sum_add; [lia|].
    intros k _. rewrite <- (added a r b). lia.
  - rewrite (sum_ext cells _ (fun k => if Nat.eqb k (place r) then map o k * rule r c else 0)).
    + rewrite (sum_at cells (place r) (fun k => map o k * rule r c)). now rewrite (proj2 (Nat.ltb_lt _ _) (placed r)).
    + intros k _. unfold part. destruct (Nat.eqb k (place r)); lia.
Qed.

(* Through a public map: the product of the lengths of a column and of the vector. *)
Theorem through_a_map measure (times : forall x y, measure (x * y) = measure x * measure y) a r b :
  total measure outputs (fun o c => release (a ++ r :: b) o c - release (a ++ b) o c)
  = column measure (place r) * length_of measure r.
Proof.
  unfold total, column, length_of. rewrite <- sum_scale_right. apply sum_ext. intros o _.
  rewrite <- sum_scale. apply sum_ext. intros c _. now rewrite released, times.
Qed.

Lemma released_replace a r s b o c :
  release (a ++ r :: b) o c - release (a ++ s :: b) o c = map o (place r) * rule r c - map o (place s) * rule s c.
Proof. pose proof (released a r b o c). pose proof (released a s b o c). lia. Qed.

Lemma column_times measure (times : forall x y, measure (x * y) = measure x * measure y) r :
  total measure outputs (fun o c => map o (place r) * rule r c) = column measure (place r) * length_of measure r.
Proof. now rewrite <- (through_a_map measure times nil r nil); unfold total; apply sum_ext; intros; apply sum_ext; intros; rewrite released. Qed.

Theorem replace_through_a_map_l1 a r s b :
  total Z.abs outputs (fun o c => release (a ++ r :: b) o c - release (a ++ s :: b) o c)
  <= column Z.abs (place r) * length_of Z.abs r + column Z.abs (place s) * length_of Z.abs s.
Proof.
  rewrite <- !(column_times Z.abs Z.abs_mul). unfold total. rewrite <- sum_add. apply sum_le. intros o _.
  rewrite <- sum_add. apply sum_le. intros c _. rewrite released_replace. lia.
Qed.

Lemma square_times x y : square (x * y) = square x * square y.
Proof. unfold square. ring. Qed.

Theorem replace_through_a_map_l2 a r s b :
  total square outputs (fun o c => release (a ++ r :: b) o c - release (a ++ s :: b) o c)
  <= 2 * (column square (place r) * length_of square r) + 2 * (column square (place s) * length_of square s).
Proof.
  rewrite <- !(column_times square square_times). unfold total. rewrite <- !sum_scale, <- sum_add. apply sum_le. intros o _.
  rewrite <- !sum_scale, <- sum_add. apply sum_le. intros c _. rewrite released_replace. unfold square.
  pose proof (square_nonneg (map o (place r) * rule r c + map o (place s) * rule s c)). unfold square in *. lia.
Qed.

(* Where nothing is negative, the two vectors point into one orthant: squared lengths bound the difference. *)
Theorem replace_in_one_orthant a r s b (positive : forall o k, 0 <= map o k) (weights : forall t c, 0 <= rule t c) :
  total square outputs (fun o c => release (a ++ r :: b) o c - release (a ++ s :: b) o c)
  <= column square (place r) * length_of square r + column square (place s) * length_of square s.
Proof.
  rewrite <- !(column_times square square_times). unfold total. rewrite <- sum_add. apply sum_le. intros o _.
  rewrite <- sum_add. apply sum_le. intros c _. rewrite released_replace. unfold square.
  pose proof (Z.mul_nonneg_nonneg _ _ (positive o (place r)) (weights r c)).
  pose proof (Z.mul_nonneg_nonneg _ _ (positive o (place s)) (weights s c)). nia.
Qed.
End Histogram.
