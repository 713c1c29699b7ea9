(* Finite sums of integers: what the other files share.  Vectors are functions of a position below a public length. *)
From Coq Require Import ZArith List Lia Arith Bool.
Open Scope Z_scope.

Fixpoint sum (n : nat) (f : nat -> Z) : Z := match n with O => 0 | S m => sum m f + f m end.
Definition square (x : Z) : Z := x * x.

Lemma sum_ext n f g : (forall k, (k < n)%nat -> f k = g k) -> sum n f = sum n g.
Proof. induction n; intros H; cbn; [reflexivity|]. rewrite IHn, (H n); auto with arith. Qed.
Lemma sum_le n f g : (forall k, (k < n)%nat -> f k <= g k) -> sum n f <= sum n g.
Proof. induction n; intros H; cbn; [lia|]. apply Z.add_le_mono; [apply IHn|apply H]; auto with arith. Qed.
Lemma sum_zero n : sum n (fun _ => 0) = 0.
Proof. induction n; cbn; lia. Qed.
Lemma sum_of_zeros n f : (forall k, f k = 0) -> sum n f = 0.
Proof. intros H. rewrite (sum_ext n f (fun _ => 0)); [apply sum_zero|]. intros. apply H. Qed.
Lemma sum_nonneg n f : (forall k, (k < n)%nat -> 0 <= f k) -> 0 <= sum n f.
Proof. intros H. rewrite <- (sum_zero n). now apply sum_le. Qed.
Lemma sum_add n f g : sum n (fun k => f k + g k) = sum n f + sum n g.
Proof. induction n; cbn; lia. Qed.
Lemma sum_scale n c f : sum n (fun k => c * f k) = c * sum n f.
Proof. induction n; cbn; lia. Qed.
Lemma sum_scale_right n c f : sum n (fun k => f k * c) = sum n f * c.
Proof. induction n; cbn; lia. Qed.
Lemma sum_const n c : sum n (fun _ => c) = Z.of_nat n * c.
Proof. induction n; cbn -[Z.of_nat]; lia. Qed.
Lemma sum_at n p x : sum n (fun k => if Nat.eqb k p then x k else 0) = if Nat.ltb p n then x p else 0.
Proof.
  induction n; cbn [sum]; [reflexivity|]. rewrite IHn.
  destruct (Nat.eqb_spec n p) as [->|N].
  - rewrite Nat.ltb_irrefl. replace (Nat.ltb p (S p)) with true by (symmetry; apply Nat.ltb_lt; lia). lia.
  - destruct (Nat.ltb_spec p n), (Nat.ltb_spec p (S n)); try lia.
Qed.
Lemma square_nonneg x : 0 <= square x.
Proof. unfold square. nia. Qed.
Lemma term_le_sum n f k : (forall j, (j < n)%nat -> 0 <= f j) -> (k < n)%nat -> f k <= sum n f.
Proof.
  induction n; intros H K; [lia|]. cbn. destruct (Nat.eq_dec k n) as [->|N].
  - pose proof (sum_nonneg n f ltac:(intros; apply H; lia)). lia.
  - pose proof (IHn ltac:(intros; apply H; lia) ltac:(lia)). pose proof (H n ltac:(lia)). lia.
Qed.
(* Truncation toward zero never lengthens: |x t / m| m <= |x| t. *)
Lemma quot_shrinks x m : 0 < m -> Z.abs (Z.quot x m) * m <= Z.abs x.
Proof.
  intros M. rewrite <- Z.quot_abs by lia. rewrite (Z.abs_eq m) by lia. rewrite Z.mul_comm.
  apply Z.mul_quot_le; lia.
Qed.
Lemma square_abs_le x y : Z.abs x <= Z.abs y -> square x <= square y.
Proof. unfold square. intros H. rewrite <- (Z.abs_square x), <- (Z.abs_square y). nia. Qed.
