(* Rows bounded together over all releases (docs/theory/joint_bound.md).
   `measure` is the square (Gaussian noise) or the absolute value (Laplace noise); precisions are whole numbers, whose
   unit does not matter.  In round t, part j releases A j o * h t j c, h the contribution g times weight / one, truncated;
   g may depend on all that was released before: nothing is asked of it but its length. *)
From Coq Require Import ZArith List Lia Arith Bool.
From Tacit Require Import finite_sums.
Open Scope Z_scope.

Section Joint.
Variable measure : Z -> Z.
Hypothesis measure_nonneg : forall x, 0 <= measure x.
Hypothesis measure_times : forall x y, measure (x * y) = measure x * measure y.
Hypothesis measure_monotone : forall x y, Z.abs x <= Z.abs y -> measure x <= measure y.

Variables (parts rounds outputs channels : nat) (precision : nat -> Z) (limit one longest : Z).
Hypothesis precision_nonneg : forall j, 0 <= precision j.
Hypothesis one_positive : 0 < one.
Hypothesis measure_one : 0 < measure one.
Hypothesis longest_nonneg : 0 <= longest.

Definition image (A : nat -> nat -> Z) (j : nat) : Z := sum outputs (fun o => measure (A j o)).
Definition row_length (A : nat -> nat -> Z) : Z := sum parts (fun j => precision j * image A j).
Definition weighed (weight : Z) (g : nat -> nat -> nat -> Z) (t j c : nat) : Z := Z.quot (weight * g t j c) one.
Definition moved (A : nat -> nat -> Z) (weight : Z) g (t j o c : nat) : Z := A j o * weighed weight g t j c.
Definition cost (v : nat -> nat -> nat -> nat -> Z) : Z :=
  sum rounds (fun t => sum parts (fun j => precision j * sum outputs (fun o => sum channels (fun c => measure (v t j o c))))).
Definition bounded (A : nat -> nat -> Z) (weight : Z) : Prop :=
  measure weight * row_length A <= limit * sum parts precision * measure one.

Lemma weighed_short weight g t j : sum channels (fun c => measure (g t j c)) <= longest ->
  sum channels (fun c => measure (weighed weight g t j c)) * measure one <= measure weight * longest.
Proof.
  intros G. eapply Z.le_trans with (measure weight * sum channels (fun c => measure (g t j c))).
  - rewrite <- sum_scale_right, <- sum_scale. apply sum_le. intros c _. rewrite <- !measure_times.
    apply measure_monotone. unfold weighed. rewrite Z.abs_mul, (Z.abs_eq one) by lia. now apply quot_shrinks.
  - apply Z.mul_le_mono_nonneg_l; auto.
Qed.

(* What all releases together cost: at most the recorded charges, times the square of noise per unit. *)
Theorem add_or_remove A weight g : bounded A weight ->
  (forall t j, sum channels (fun c => measure (g t j c)) <= longest) ->
  cost (moved A weight g) <= Z.of_nat rounds * (limit * sum parts precision) * longest.
Proof.
  intros B G. apply (Zmult_le_reg_r _ _ (measure one)); [lia|].
  eapply Z.le_trans with (sum rounds (fun _ => measure weight * row_length A * longest)).
  - unfold cost. rewrite <- sum_scale_right. apply sum_le. intros t _. unfold row_length.
    rewrite <- sum_scale_right, <- sum_scale, <- sum_scale_right. apply sum_le. intros j _.
    rewrite (sum_ext outputs _ (fun o => measure (A j o) * sum channels (fun c => measure (weighed weight g t j c)))).
    + rewrite sum_scale_right. fold (image A j).
      pose proof (weighed_short weight g t j (G t j)) as W.
      assert (0 <= image A j) by (apply sum_nonneg; auto).
      pose proof (Z.mul_nonneg_nonneg _ _ (precision_nonneg j) H) as PI.
      pose proof (Z.mul_le_mono_nonneg_l _ _ _ PI W). lia.
    + intros o _. rewrite <- sum_scale. apply sum_ext. intros c _. apply measure_times.
  - rewrite sum_const. unfold bounded in B.
    pose proof (Z.mul_le_mono_nonneg_r _ _ _ longest_nonneg B) as C.
    pose proof (Z.mul_le_mono_nonneg_l _ _ (Z.of_nat rounds) ltac:(lia) C). lia.
Qed.
End Joint.

(* A replaced row: both rows' vectors, so at most four times as much for squares, twice for absolute values. *)
Theorem replace_l2 parts rounds outputs channels precision (v w : nat -> nat -> nat -> nat -> Z) most :
  (forall j, 0 <= precision j) ->
  cost square parts rounds outputs channels precision v <= most ->
  cost square parts rounds outputs channels precision w <= most ->
  cost square parts rounds outputs channels precision (fun t j o c => v t j o c - w t j o c) <= 4 * most.
Proof.
  intros P V W.
  eapply Z.le_trans with (2 * cost square parts rounds outputs channels precision v + 2 * cost square parts rounds outputs channels precision w); [|lia].
  unfold cost. rewrite <- !sum_scale, <- sum_add. apply sum_le. intros t _. rewrite <- !sum_scale, <- sum_add.
  apply sum_le. intros j _.
  rewrite !Z.mul_assoc, !(Z.mul_comm 2 (precision j)), <- !Z.mul_assoc, <- Z.mul_add_distr_l.
  apply Z.mul_le_mono_nonneg_l; [apply P|]. rewrite <- !sum_scale, <- sum_add. apply sum_le. intros o _.
  rewrite <- !sum_scale, <- sum_add. apply sum_le. intros c _.
  pose proof (square_nonneg (v t j o c + w t j o c)). unfold square in *. lia.
Qed.
Theorem replace_l1 parts rounds outputs channels precision (v w : nat -> nat -> nat -> nat -> Z) most :
  (forall j, 0 <= precision j) ->
  cost Z.abs parts rounds outputs channels precision v <= most ->
  cost Z.abs parts rounds outputs channels precision w <= most ->
  cost Z.abs parts rounds outputs channels precision (fun t j o c => v t j o c - w t j o c) <= 2 * most.
Proof.
  intros P V W.
  eapply Z.le_trans with (cost Z.abs parts rounds outputs channels precision v + cost Z.abs parts rounds outputs channels precision w); [|lia].
  unfold cost. rewrite <- sum_add. apply sum_le. intros t _. rewrite <- sum_add. apply sum_le. intros j _.
  rewrite <- Z.mul_add_distr_l. apply Z.mul_le_mono_nonneg_l; [apply P|]. rewrite <- sum_add. apply sum_le. intros o _.
  rewrite <- sum_add. apply sum_le. intros c _. lia.
Qed.
