(* Numbers of any ordered ring, the reals among them, and their finite sums: what the files on chances and risks share.
   No law of the reals is assumed; whoever applies a theorem to them brings that they are an ordered ring. *)
From Coq Require Import ZArith List Lia Arith Bool OrderedRing.

Section Ordered.
Variables (R : Type) (zero one : R) (plus times minus : R -> R -> R) (opp : R -> R) (le lt : R -> R -> Prop).
Hypothesis ring_laws : SOR zero one plus times minus opp (@eq R) le lt.
Add Ring numbers : (SORrt ring_laws).
Notation "0" := zero. Notation "1" := one. Infix "+" := plus. Infix "*" := times. Infix "-" := minus.
Infix "<=" := le. Infix "<" := lt.
Let le_trans := Rle_trans ring_laws.
Let plus_le := Rplus_le_mono ring_laws.
Let pos_pos := Rtimes_pos_pos ring_laws.
Let nonneg_nonneg := Rtimes_nonneg_nonneg ring_laws.

Lemma le_refl x : x <= x. Proof. apply (Rle_refl ring_laws). Qed.
Lemma lt_le x y : x < y -> x <= y. Proof. intros H. now destruct (proj1 (Rlt_le_neq ring_laws _ _) H). Qed.
Lemma minus_le x y : 0 <= y - x -> x <= y. Proof. apply (Rle_le_minus ring_laws). Qed.
Lemma le_minus x y : x <= y -> 0 <= y - x. Proof. apply (Rle_le_minus ring_laws). Qed.
Lemma minus_lt x y : 0 < y - x -> x < y. Proof. apply (Rlt_lt_minus ring_laws). Qed.
Lemma lt_minus x y : x < y -> 0 < y - x. Proof. apply (Rlt_lt_minus ring_laws). Qed.
Lemma times_le c x y : 0 <= c -> x <= y -> c * x <= c * y.
Proof.
  intros C H. apply minus_le. replace (c * y - c * x) with (c * (y - x)) by ring. apply nonneg_nonneg; [assumption|].
  now apply le_minus.
Qed.
Lemma cancel c x y : 0 < c -> c * x <= c * y -> x <= y.
Proof.
  intros C H. destruct (Rle_gt_cases ring_laws x y) as [L|G]; [assumption|]. exfalso.
  apply (proj1 (Rle_ngt ring_laws _ _) H). apply minus_lt. replace (c * x - c * y) with (c * (x - y)) by ring.
  apply pos_pos; [assumption|]. now apply lt_minus.
Qed.

Fixpoint total (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => total m f + f m end.
Lemma total_ext n f g : (forall k, (k < n)%nat -> f k = g k) -> total n f = total n g.
Proof. induction n; intros H; cbn; [reflexivity|]. rewrite IHn, (H n); auto with arith. Qed.
Lemma total_le n f g : (forall k, (k < n)%nat -> f k <= g k) -> total n f <= total n g.
Proof. induction n; intros H; cbn; [apply le_refl|]. apply plus_le; [apply IHn|apply H]; auto with arith. Qed.
Lemma total_linear n f g c d : total n (fun k => c * f k + d * g k) = c * total n f + d * total n g.
Proof. induction n; cbn; [ring|]. rewrite IHn. ring. Qed.
Lemma total_scale n f c : total n (fun k => c * f k) = c * total n f.
Proof. induction n; cbn; [ring|]. rewrite IHn. ring. Qed.
Lemma total_zero n : total n (fun _ => 0) = 0.
Proof. induction n; cbn; [reflexivity|]. rewrite IHn. ring. Qed.
Lemma total_nonpositive n f : (forall k, (k < n)%nat -> f k <= 0) -> total n f <= 0.
Proof. intros H. rewrite <- (total_zero n). apply total_le. intros. now apply H. Qed.
Lemma total_positive n f : (0 < n)%nat -> (forall k, (k < n)%nat -> 0 < f k) -> 0 < total n f.
Proof.
  intros N H. destruct n as [|n]; [lia|]. cbn. clear N. apply (Rplus_nonneg_pos ring_laws); [|apply H; lia].
  rewrite <- (total_zero n). apply total_le. intros. apply lt_le, H. lia.
Qed.
Lemma total_zeros n f : (forall k, (k < n)%nat -> f k <= 0) -> total n f = 0 -> forall k, (k < n)%nat -> f k = 0.
Proof.
  induction n; intros H T k K; [lia|]. cbn in T.
  assert (N : total n f <= 0) by (rewrite <- (total_zero n); apply total_le; intros; apply H; lia).
  assert (L : f n = 0).
  { apply (Rle_antisymm ring_laws); [apply H; lia|]. apply minus_le. replace (f n - 0) with (total n f + f n - total n f) by ring.
    rewrite T. now apply le_minus. }
  destruct (Nat.eq_dec k n) as [->|]; [assumption|]. apply IHn; [intros; apply H; lia| |lia].
  rewrite L in T. rewrite <- T. ring.
Qed.
Lemma cancel_equal c x y : 0 < c -> c * x = c * y -> x = y.
Proof.
  intros C H. apply (Rle_antisymm ring_laws); apply (cancel c); try assumption; rewrite H; apply le_refl.
Qed.
End Ordered.
