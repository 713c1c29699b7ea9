(* Products of a row's scores, 5 on the diagonal and 7 off it (reference.py: scatter_part). *)
From Coq Require Import ZArith List Lia Arith Bool.
From Tacit Require Import finite_sums.
Open Scope Z_scope.

Definition pairs (n : nat) (f : nat -> nat -> Z) : Z := sum n (fun j => sum j (fun i => f i j)).

Lemma square_of_sum n f : square (sum n f) = sum n (fun k => square (f k)) + 2 * pairs n (fun i j => f i * f j).
Proof.
  unfold pairs. induction n; cbn [sum]; [reflexivity|]. rewrite sum_scale_right. unfold square in *. lia.
Qed.
Lemma pairs_nonneg n f : (forall i j, 0 <= f i j) -> 0 <= pairs n f.
Proof. intros H. apply sum_nonneg. intros. apply sum_nonneg. auto. Qed.
Lemma pairs_ext n f g : (forall i j, f i j = g i j) -> pairs n f = pairs n g.
Proof. intros H. apply sum_ext. intros. apply sum_ext. auto. Qed.
Lemma pairs_scale n c f : pairs n (fun i j => c * f i j) = c * pairs n f.
Proof. unfold pairs. rewrite <- sum_scale. apply sum_ext. intros. apply sum_scale. Qed.
Lemma pairs_add n f g : pairs n (fun i j => f i j + g i j) = pairs n f + pairs n g.
Proof. unfold pairs. rewrite <- sum_add. apply sum_ext. intros. apply sum_add. Qed.
Lemma pairs_le n f g : (forall i j, f i j <= g i j) -> pairs n f <= pairs n g.
Proof. intros H. apply sum_le. intros. apply sum_le. auto. Qed.

Section Scatter.
Variable n : nat.
(* The product of two parts, entry by entry; that of a part with itself is its squared length. *)
Definition product (z y : nat -> Z) : Z :=
  sum n (fun i => (5 * (z i * z i)) * (5 * (y i * y i))) + pairs n (fun i j => (7 * (z i * z j)) * (7 * (y i * y j))).
Definition apart (z y : nat -> Z) : Z :=
  sum n (fun i => square (5 * (z i * z i) - 5 * (y i * y i))) + pairs n (fun i j => square (7 * (z i * z j) - 7 * (y i * y j))).

Lemma product_as_squares z y :
  2 * product z y = 49 * square (sum n (fun i => z i * y i)) + sum n (fun i => square (z i * y i)).
Proof.
  rewrite square_of_sum. unfold product.
  rewrite (sum_ext n (fun i => 5 * (z i * z i) * (5 * (y i * y i))) (fun i => 25 * square (z i * y i))), sum_scale
    by (intros; unfold square; ring).
  rewrite (pairs_ext n (fun i j => 7 * (z i * z j) * (7 * (y i * y j))) (fun i j => 49 * (z i * y i * (z j * y j)))), pairs_scale
    by (intros; ring). lia.
Qed.

Theorem squared_length z most : sum n (fun i => square (z i)) <= most -> product z z <= 25 * square most.
Proof.
  intros H. pose proof (sum_nonneg n (fun i => square (z i)) ltac:(intros; apply square_nonneg)) as P.
  assert (S : square (sum n (fun i => square (z i))) <= square most) by (apply square_abs_le; lia).
  rewrite square_of_sum in S. unfold product.
  rewrite (sum_ext n (fun i => 5 * (z i * z i) * (5 * (z i * z i))) (fun i => 25 * square (square (z i)))), sum_scale
    by (intros; unfold square; ring).
  rewrite (pairs_ext n (fun i j => 7 * (z i * z j) * (7 * (z i * z j))) (fun i j => 49 * (square (z i) * square (z j)))), pairs_scale
    by (intros; unfold square; ring).
  assert (0 <= pairs n (fun i j => square (z i) * square (z j)))
    by (apply pairs_nonneg; intros; apply Z.mul_nonneg_nonneg; apply square_nonneg). lia.
Qed.
Theorem never_apart z y : 0 <= product z y.
Proof.
  pose proof (product_as_squares z y). pose proof (square_nonneg (sum n (fun i => z i * y i))).
  pose proof (sum_nonneg n (fun i => square (z i * y i)) ltac:(intros; apply square_nonneg)). lia.
Qed.
Theorem replaced z y most : sum n (fun i => square (z i)) <= most -> sum n (fun i => square (y i)) <= most ->
  apart z y <= 2 * (25 * square most).
Proof.
  intros Z Y. pose proof (squared_length z most Z). pose proof (squared_length y most Y). pose proof (never_apart z y).
  assert (E : apart z y = product z z + product y y - 2 * product z y).
  { unfold apart, product. 
    rewrite (sum_ext n (fun i => square (5 * (z i * z i) - 5 * (y i * y i)))
      (fun i => (5 * (z i * z i) * (5 * (z i * z i)) + 5 * (y i * y i) * (5 * (y i * y i))) + -2 * (5 * (z i * z i) * (5 * (y i * y i)))))
      by (intros; unfold square; ring).
    rewrite (pairs_ext n (fun i j => square (7 * (z i * z j) - 7 * (y i * y j)))
      (fun i j => (7 * (z i * z j) * (7 * (z i * z j)) + 7 * (y i * y j) * (7 * (y i * y j))) + -2 * (7 * (z i * z j) * (7 * (y i * y j)))))
      by (intros; unfold square; ring).
    rewrite !sum_add, !pairs_add, sum_scale, pairs_scale. ring. }
  lia.
Qed.
End Scatter.
