(* The sum under capped scaling to an exact total (reference.py: handed_out).  A line of units, each named
   by its row; the first `total` of them are handed out.  A row's places in the line depend on the row alone, so a row that
   is removed takes its units out of the line and others move up. *)
From Coq Require Import ZArith List Lia Arith Bool.
From Tacit Require Import finite_sums.
Import ListNotations. Open Scope Z_scope.

Definition without (i : nat) (line : list nat) : list nat := filter (fun j => negb (Nat.eqb j i)) line.
Definition held (i : nat) (line : list nat) : nat := count_occ Nat.eq_dec line i.
Definition total_of (a : nat -> Z) (line : list nat) : Z := fold_right (fun j s => a j + s) 0 line.

Lemma total_cons a j l : total_of a (j :: l) = a j + total_of a l.
Proof. reflexivity. Qed.
Lemma total_app a l m : total_of a (l ++ m) = total_of a l + total_of a m.
Proof. induction l; [reflexivity|]. rewrite <- app_comm_cons, !total_cons, IHl. lia. Qed.
Lemma total_bound a l most : (forall j, In j l -> Z.abs (a j) <= most) -> Z.abs (total_of a l) <= Z.of_nat (length l) * most.
Proof.
  induction l as [|j l IH]; intros H; [cbn; lia|]. rewrite total_cons. cbn [length].
  pose proof (H j (or_introl eq_refl)). specialize (IH ltac:(intros; apply H; now right)). lia.
Qed.
Lemma total_without a i l : total_of a l = total_of a (without i l) + Z.of_nat (held i l) * a i.
Proof.
  induction l as [|j l IH]; [reflexivity|]. rewrite total_cons, IH. unfold without, held. cbn [filter count_occ].
  destruct (Nat.eq_dec j i) as [->|N].
  - rewrite Nat.eqb_refl. cbn [negb]. lia.
  - rewrite (proj2 (Nat.eqb_neq _ _) N). cbn [negb]. rewrite total_cons. lia.
Qed.
Lemma length_without i l : length l = (length (without i l) + held i l)%nat.
Proof.
  induction l as [|j l IH]; [reflexivity|]. unfold without, held in *. cbn [filter count_occ length].
  destruct (Nat.eq_dec j i) as [->|N].
  - rewrite Nat.eqb_refl. cbn [negb]. lia.
  - rewrite (proj2 (Nat.eqb_neq _ _) N). cbn [negb length]. lia.
Qed.

Section Line.
Variables (x : nat -> nat -> Z) (n units : nat) (radius : Z).
Hypothesis short : forall j, sum n (fun k => square (x j k)) <= square radius.
Definition handed_out (line : list nat) : list nat := firstn units line.
Definition answer (line : list nat) (k : nat) : Z := total_of (fun j => x j k) (handed_out line).

(* The units that others take up: no more than the row held. *)
Lemma taken_up line i : exists more, handed_out (without i line) = without i (handed_out line) ++ more
  /\ (length more <= held i (handed_out line))%nat.
Proof.
  unfold handed_out. set (F := firstn units line). set (G := skipn units line).
  assert (W : without i line = without i F ++ without i G)
    by (rewrite <- (firstn_skipn units line) at 1; unfold without; now rewrite filter_app).
  rewrite W, firstn_app. pose proof (length_without i F) as L.
  assert (M : (length F <= units)%nat) by (unfold F; rewrite firstn_length; lia).
  rewrite firstn_all2 by lia. eexists. split; [reflexivity|]. rewrite firstn_length.
  destruct (le_lt_dec (length line) units).
  - assert (G = []) as -> by (unfold G; apply skipn_all2; lia). cbn. lia.
  - assert (length F = units) by (unfold F; rewrite firstn_length; lia). lia.
Qed.

(* Where row i is replaced, what the others hold is the same list up to a point: all but max(c, c') of the units, for a
   row that held c and then c'.  So a unit drawn at random falls differently with a chance of at most that share. *)
Theorem held_in_common line line' i : without i line = without i line' ->
  (units <= length line)%nat -> (units <= length line')%nat -> exists common more more',
  without i (handed_out line) = common ++ more /\ without i (handed_out line') = common ++ more' /\
  (units <= length common + Nat.max (held i (handed_out line)) (held i (handed_out line')))%nat.
Proof.
  intros E L L'. unfold handed_out.
  assert (P : forall l, (units <= length l)%nat -> exists k,
    without i (firstn units l) = firstn k (without i l) /\ (units = k + held i (firstn units l))%nat /\ (k <= length (without i l))%nat).
  { intros l H. exists (length (without i (firstn units l))).
    pose proof (length_without i (firstn units l)) as A. rewrite firstn_length, Nat.min_l in A by assumption.
    assert (W : without i l = without i (firstn units l) ++ without i (skipn units l))
      by (rewrite <- (firstn_skipn units l) at 1; unfold without; now rewrite filter_app).
    repeat split; [|assumption|rewrite W, app_length; lia].
    rewrite W, firstn_app, Nat.sub_diag. cbn [firstn]. rewrite app_nil_r. now rewrite firstn_all. }
  destruct (P line L) as [k (A & B & C)]. destruct (P line' L') as [k' (A' & B' & C')]. rewrite A, A', <- E. rewrite <- E in C'.
  set (w := without i line) in *. exists (firstn (Nat.min k k') w), (skipn (Nat.min k k') (firstn k w)), (skipn (Nat.min k k') (firstn k' w)).
  repeat split.
  - rewrite <- (firstn_skipn (Nat.min k k') (firstn k w)) at 1. f_equal. rewrite firstn_firstn. f_equal. lia.
  - rewrite <- (firstn_skipn (Nat.min k k') (firstn k' w)) at 1. f_equal. rewrite firstn_firstn. f_equal. lia.
  - rewrite firstn_length. lia.
Qed.

(* In one direction: at most twice the units that the row held, times the longest row. *)
Theorem one_direction (a : nat -> Z) most line i : (forall j, Z.abs (a j) <= most) ->
  Z.abs (total_of a (handed_out line) - total_of a (handed_out (without i line))) <= 2 * Z.of_nat (held i (handed_out line)) * most.
Proof.
  intros B. destruct (taken_up line i) as (more & -> & S). rewrite total_app, (total_without a i (handed_out line)).
  pose proof (total_bound a more most ltac:(intros; apply B)) as T. pose proof (B i) as A.
  assert (P : 0 <= most) by lia.
  set (h := Z.of_nat (held i (handed_out line))) in *. assert (H : Z.of_nat (length more) <= h) by (unfold h; lia).
  pose proof (Z.mul_le_mono_nonneg_r _ _ most P H). assert (0 <= h) by (unfold h; lia).
  assert (Z.abs (h * a i) <= h * most) by (rewrite Z.abs_mul, (Z.abs_eq h) by lia; apply Z.mul_le_mono_nonneg_l; lia). lia.
Qed.

Lemma cauchy m (u v : nat -> Z) : square (sum m (fun k => u k * v k)) <= sum m (fun k => square (u k)) * sum m (fun k => square (v k)).
Proof.
  induction m; cbn [sum]; [unfold square; lia|].
  set (S := sum m (fun k => u k * v k)) in *. set (A := sum m (fun k => square (u k))) in *. set (B := sum m (fun k => square (v k))) in *.
  assert (PA : 0 <= A) by (apply sum_nonneg; intros; apply square_nonneg).
  assert (PB : 0 <= B) by (apply sum_nonneg; intros; apply square_nonneg).
  set (p := u m). set (r := v m).
  assert (C : 2 * S * (p * r) <= A * square r + B * square p).
  { assert (0 <= A * square r + B * square p) by (pose proof (square_nonneg r); pose proof (square_nonneg p); nia).
    destruct (Z.le_gt_cases (2 * S * (p * r)) 0); [lia|].
    apply Z.square_le_simpl_nonneg; [assumption|].
    assert (D : square S * (4 * square (p * r)) <= A * B * (4 * square (p * r)))
      by (apply Z.mul_le_mono_nonneg_r; [pose proof (square_nonneg (p * r)); lia|assumption]).
    pose proof (square_nonneg (A * square r - B * square p)). unfold square in *. lia. }
  unfold square in *. lia.
Qed.

Lemma total_inner d l : sum n (fun k => total_of (fun j => x j k) l * d k) = total_of (fun j => sum n (fun k => x j k * d k)) l.
Proof.
  induction l as [|j l IH]; [apply sum_of_zeros; intros; reflexivity|].
  rewrite total_cons, <- IH, <- sum_add. apply sum_ext. intros. rewrite total_cons. ring.
Qed.

(* In every direction, so in length: 2 c R, for a row that held c units. *)
Theorem removing_a_row line i : 0 <= radius ->
  sum n (fun k => square (answer line k - answer (without i line) k)) <= square (2 * Z.of_nat (held i (handed_out line)) * radius).
Proof.
  intros R. set (d := fun k => answer line k - answer (without i line) k). set (h := Z.of_nat (held i (handed_out line))).
  set (a := fun j => sum n (fun k => x j k * d k)). set (D := sum n (fun k => square (d k))).
  assert (PD : 0 <= D) by (apply sum_nonneg; intros; apply square_nonneg).
  assert (E : D = total_of a (handed_out line) - total_of a (handed_out (without i line))).
  { unfold a. rewrite <- !total_inner. unfold D. rewrite (sum_ext n (fun k => square (d k))
      (fun k => total_of (fun j => x j k) (handed_out line) * d k + -1 * (total_of (fun j => x j k) (handed_out (without i line)) * d k))).
    - rewrite sum_add, sum_scale. lia.
    - intros k _. unfold square. change (d k * d k) with ((answer line k - answer (without i line) k) * d k). unfold answer. ring. }
  assert (S : forall j, square (a j) <= square radius * D).
  { intros j. eapply Z.le_trans; [apply cauchy|]. apply Z.mul_le_mono_nonneg_r; auto. }
  (* The bound of one direction needs a whole number: the root of radius^2 D, rounded down, is one for whole a j. *)
  set (m := Z.sqrt (square radius * D)).
  assert (PR : 0 <= square radius * D) by (apply Z.mul_nonneg_nonneg; [apply square_nonneg|assumption]).
  assert (B : forall j, Z.abs (a j) <= m).
  { intros j. apply Z.sqrt_le_square; [lia|lia|]. rewrite Z.abs_square. apply (S j). }
  pose proof (one_direction a m line i B) as O. rewrite <- E in O. fold h in O.
  pose proof (Z.sqrt_spec _ PR) as [Q _]. fold m in Q.
  assert (PM : 0 <= m) by apply Z.sqrt_nonneg. assert (PH : 0 <= h) by (unfold h; lia).
  change (D <= square (2 * h * radius)). destruct (Z.eq_dec D 0) as [E0|N]; [rewrite E0; apply square_nonneg|].
  apply (Zmult_le_reg_r _ _ D); [lia|].
  apply Z.le_trans with (square (2 * h * m)).
  - unfold square at 1. change (D * D) with (square D). apply square_abs_le. lia.
  - replace (square (2 * h * m)) with (4 * (h * h) * (m * m)) by (unfold square; ring).
    replace (square (2 * h * radius) * D) with (4 * (h * h) * (square radius * D)) by (unfold square; ring).
    apply Z.mul_le_mono_nonneg_l; [|assumption]. pose proof (Z.mul_nonneg_nonneg h h PH PH). lia.
Qed.
End Line.
