(* Relabelling: the choice of a group of patterns, then a learner.
   exp(a) is up / down >= 1.  Whole numbers stand for probabilities, over a common total. *)
From Coq Require Import ZArith List Lia Arith Bool.
From Tacit Require Import finite_sums.
Open Scope Z_scope.

Section Groups.
Variables up down : Z.
Hypothesis positive : 0 < down.
Hypothesis above_one : down <= up.
(* A group has one pattern, worth w.  With one row more it has one (no error, or an error) or two, one of them in error. *)
Definition grows_errors (w w' : Z) : Prop := up * w' = down * w \/ w' = w \/ up * w' = (up + down) * w.
(* With completion scores each of the two is worth between w down / up and w. *)
Definition grows_completion (w w' : Z) : Prop := down * w <= up * w' /\ w' <= 2 * w.

Theorem range_errors v v' w w' : 0 < v -> 0 < w -> grows_errors v v' -> grows_errors w w' ->
  v' * w * down <= v * w' * (up + down).
Proof.
  intros V W G H.
  pose proof (Z.mul_nonneg_nonneg up v ltac:(lia) ltac:(lia)). pose proof (Z.mul_nonneg_nonneg down v ltac:(lia) ltac:(lia)).
  pose proof (Z.mul_nonneg_nonneg up w ltac:(lia) ltac:(lia)). pose proof (Z.mul_le_mono_nonneg_r down up w ltac:(lia) above_one).
  assert (A : up * v' <= (up + down) * v) by (destruct G as [E|[E|E]]; subst; rewrite ?E; lia).
  assert (B : down * w <= up * w') by (destruct H as [E|[E|E]]; subst; rewrite ?E; lia).
  apply (Zmult_le_reg_r _ _ up); [lia|].
  apply Z.le_trans with ((up + down) * v * (down * w)).
  - replace (v' * w * down * up) with (up * v' * (down * w)) by ring. apply Z.mul_le_mono_nonneg_r; [|assumption].
    apply Z.mul_nonneg_nonneg; lia.
  - replace (v * w' * (up + down) * up) with ((up + down) * v * (up * w')) by ring.
    apply Z.mul_le_mono_nonneg_l; [|assumption]. apply Z.mul_nonneg_nonneg; lia.
Qed.
Theorem range_completion v v' w w' : 0 < v -> 0 < w -> grows_completion v v' -> grows_completion w w' ->
  v' * w * down <= v * w' * (2 * up).
Proof.
  intros V W [_ A] [B _]. apply Z.le_trans with (2 * v * (down * w)).
  - replace (v' * w * down) with (v' * (down * w)) by ring. apply Z.mul_le_mono_nonneg_r; [|assumption].
    apply Z.mul_nonneg_nonneg; lia.
  - replace (v * w' * (2 * up)) with (2 * v * (up * w')) by ring. apply Z.mul_le_mono_nonneg_l; [lia|assumption].
Qed.
End Groups.

(* A choice of a group, and a learner on it: factors multiply, and the learner's delta is not multiplied by anything.
   p, q: chances of groups on two neighbours, over `total`; a, b: chances of an event given the group, over `whole`;
   D p <= N q, and d a <= n b + delta with delta over `whole`, scaled by d. *)
Theorem relabel_then_learn groups (p q a b : nat -> Z) N D n d delta total :
  0 <= N -> 0 <= D -> 0 <= n -> 0 <= d ->
  (forall g, 0 <= p g) -> (forall g, 0 <= q g) -> (forall g, 0 <= a g) -> (forall g, 0 <= b g) ->
  sum groups p = total ->
  (forall g, D * p g <= N * q g) -> (forall g, d * a g <= n * b g + delta) ->
  D * (d * sum groups (fun g => p g * a g)) <= N * (n * sum groups (fun g => q g * b g)) + D * (total * delta).
Proof.
  intros HN HD Hn Hd P Q A B T C L.
  apply Z.le_trans with (D * sum groups (fun g => p g * (n * b g + delta))).
  - apply Z.mul_le_mono_nonneg_l; [assumption|]. rewrite <- sum_scale. apply sum_le. intros g _.
    replace (d * (p g * a g)) with (p g * (d * a g)) by ring. apply Z.mul_le_mono_nonneg_l; [apply P|apply L].
  - rewrite (sum_ext groups (fun g => p g * (n * b g + delta)) (fun g => n * (p g * b g) + p g * delta)) by (intros; ring).
    rewrite sum_add, sum_scale, sum_scale_right, T.
    assert (M : D * (n * sum groups (fun g => p g * b g)) <= N * (n * sum groups (fun g => q g * b g))).
    { rewrite !(Z.mul_comm n), !Z.mul_assoc. apply Z.mul_le_mono_nonneg_r; [assumption|].
      rewrite <- !sum_scale. apply sum_le. intros g _. rewrite !Z.mul_assoc. apply Z.mul_le_mono_nonneg_r; [apply B|apply C]. }
    lia.
Qed.
