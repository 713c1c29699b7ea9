(* Sums of dense rows: weighted, and of squares (reference.py: weighted_sum). *)
From Coq Require Import ZArith List Lia Arith Bool.
From Tacit Require Import finite_sums.
Import ListNotations. Open Scope Z_scope.

Section Sums.
Variable Row : Type.
Variable x : Row -> nat -> Z.
Variable weight : Row -> Z.
Variables (n : nat) (radius largest : Z).
Hypothesis short : forall r, sum n (fun k => square (x r k)) <= square radius.
Hypothesis light : forall r, Z.abs (weight r) <= largest.

Definition part (r : Row) (k : nat) : Z := weight r * x r k.
Definition weighted_sum (rows : list Row) (k : nat) : Z := fold_right (fun r s => part r k + s) 0 rows.
Lemma weighted_sum_app a b k : weighted_sum (a ++ b) k = weighted_sum a k + weighted_sum b k.
Proof. induction a; [reflexivity|]. change (part a k + weighted_sum (a0 ++ b) k = part a k + weighted_sum a0 k + weighted_sum b k). lia. Qed.
Lemma weighted_sum_cons r b k : weighted_sum (r :: b) k = part r k + weighted_sum b k.
Proof. reflexivity. Qed.

Lemma part_short r : sum n (fun k => square (part r k)) <= square (largest * radius).
Proof.
  rewrite (sum_ext n _ (fun k => square (weight r) * square (x r k))) by (intros; unfold part, square; ring).
  rewrite sum_scale. replace (square (largest * radius)) with (square largest * square radius) by (unfold square; ring).
  pose proof (light r) as L. assert (square (weight r) <= square largest) by (apply square_abs_le; lia).
  apply Z.mul_le_mono_nonneg; auto using square_nonneg. apply sum_nonneg. intros. apply square_nonneg.
Qed.

Theorem add_or_remove a r b :
  sum n (fun k => square (weighted_sum (a ++ r :: b) k - weighted_sum (a ++ b) k)) <= square (largest * radius).
Proof.
  eapply Z.le_trans; [|apply (part_short r)]. apply Z.eq_le_incl, sum_ext. intros k _. f_equal.
  rewrite !weighted_sum_app, weighted_sum_cons. lia.
Qed.

Theorem replace a r s b :
  sum n (fun k => square (weighted_sum (a ++ r :: b) k - weighted_sum (a ++ s :: b) k)) <= square (2 * largest * radius).
Proof.
  eapply Z.le_trans with (2 * sum n (fun k => square (part r k)) + 2 * sum n (fun k => square (part s k))).
  - rewrite <- !sum_scale, <- sum_add. apply sum_le. intros k _. rewrite !weighted_sum_app, !weighted_sum_cons.
    pose proof (square_nonneg (part r k + part s k)). unfold square in *. lia.
  - pose proof (part_short r). pose proof (part_short s). unfold square in *. lia.
Qed.
End Sums.

(* Squares of a row are not negative: they are no longer than its squared length, and two rows' never point apart. *)
Section Squares.
Variable n : nat.
Lemma square_of_sum_positive m (f : nat -> Z) : (forall k, 0 <= f k) -> sum m (fun k => square (f k)) <= square (sum m f).
Proof.
  intros P. induction m; cbn [sum]; [unfold square; lia|].
  pose proof (sum_nonneg m f ltac:(intros; apply P)). pose proof (P m). unfold square in *. nia.
Qed.
Theorem squares_longest (x : nat -> Z) most : sum n (fun k => square (x k)) <= most ->
  sum n (fun k => square (square (x k))) <= square most.
Proof.
  intros H. eapply Z.le_trans; [apply (square_of_sum_positive n (fun k => square (x k))); intros; apply square_nonneg|].
  pose proof (sum_nonneg n (fun k => square (x k)) ltac:(intros; apply square_nonneg)). apply square_abs_le. lia.
Qed.
Theorem squares_replaced (x y : nat -> Z) most : sum n (fun k => square (x k)) <= most -> sum n (fun k => square (y k)) <= most ->
  sum n (fun k => square (square (x k) - square (y k))) <= 2 * square most.
Proof.
  intros X Y. pose proof (squares_longest x most X). pose proof (squares_longest y most Y).
  eapply Z.le_trans with (sum n (fun k => square (square (x k))) + sum n (fun k => square (square (y k)))); [|lia].
  rewrite <- sum_add. apply sum_le. intros k _. pose proof (Z.mul_nonneg_nonneg _ _ (square_nonneg (x k)) (square_nonneg (y k))).
  unfold square in *. lia.
Qed.
End Squares.
