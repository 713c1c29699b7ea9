(* What a row contributes that has scores (reference.py: softmax_contribution, clip). *)
From Coq Require Import ZArith List Lia Arith Bool.
From Tacit Require Import finite_sums.
Import ListNotations. Open Scope Z_scope.

(* A number times scale / one, truncated toward zero: what the kernels do with a sign and a shift. *)
Definition scaled (scale one x : Z) : Z := Z.quot (x * scale) one.

Lemma scaled_abs scale one x : 0 <= scale -> 0 < one -> Z.abs (scaled scale one x) * one <= Z.abs x * scale.
Proof.
  intros S O. unfold scaled. eapply Z.le_trans; [now apply quot_shrinks|].
  rewrite Z.abs_mul, (Z.abs_eq scale) by lia. lia.
Qed.
Lemma scaled_square scale one x :
  0 <= scale -> 0 < one -> square (scaled scale one x) * square one <= square x * square scale.
Proof.
  intros S O. pose proof (scaled_abs scale one x S O) as H.
  replace (square (scaled scale one x) * square one) with (square (scaled scale one x * one)) by (unfold square; ring).
  replace (square x * square scale) with (square (x * scale)) by (unfold square; ring).
  apply square_abs_le. rewrite !Z.abs_mul, (Z.abs_eq one), (Z.abs_eq scale) by lia. exact H.
Qed.

Section Softmax.
Variables (n y : nat) (unit one scale longest least trace : Z) (q : nat -> Z).
Hypothesis labelled : (y < n)%nat.
Hypothesis one_positive : 0 < one.
Hypothesis scale_positive : 0 <= scale.
Hypothesis scale_small : scale * longest <= unit * one.
Hypothesis least_of_all : least <= q y.
Hypothesis unit_positive : 0 <= unit.
Hypothesis longest_positive : 0 <= longest.

Definition residual (k : nat) : Z := if Nat.eqb k y then unit - q k else - q k.

Lemma residual_square : sum n (fun k => square (residual k)) = unit * unit - 2 * unit * q y + sum n (fun k => square (q k)).
Proof.
  rewrite (sum_ext n _ (fun k => square (q k) + (if Nat.eqb k y then unit * unit - 2 * unit * q k else 0))).
  - rewrite sum_add, (sum_at n y (fun k => unit * unit - 2 * unit * q k)), (proj2 (Nat.ltb_lt _ _) labelled). lia.
  - intros k _. unfold residual, square. destruct (Nat.eqb k y); ring.
Qed.

(* The squared length, whatever the label and the scores are, is at most that of the unit. *)
Theorem softmax_l2 :
  unit * unit - 2 * unit * least + sum n (fun k => square (q k)) + square trace <= square longest ->
  sum n (fun k => square (scaled scale one (residual k))) + square (scaled scale one trace) <= square unit.
Proof.
  intros L.
  assert (H : (sum n (fun k => square (scaled scale one (residual k))) + square (scaled scale one trace)) * square one
              <= (sum n (fun k => square (residual k)) + square trace) * square scale).
  { rewrite !Z.mul_add_distr_r, <- !sum_scale_right. apply Z.add_le_mono.
    - apply sum_le. intros. now apply scaled_square.
    - now apply scaled_square. }
  rewrite residual_square in H.
  assert (G : (unit * unit - 2 * unit * q y + sum n (fun k => square (q k)) + square trace) * square scale
              <= square longest * square scale).
  { apply Z.mul_le_mono_nonneg_r; [apply square_nonneg|]. nia. }
  assert (F : square longest * square scale <= square unit * square one).
  { replace (square longest * square scale) with (square (scale * longest)) by (unfold square; ring).
    replace (square unit * square one) with (square (unit * one)) by (unfold square; ring).
    apply square_abs_le. rewrite !Z.abs_eq by (apply Z.mul_nonneg_nonneg; lia). exact scale_small. }
  assert (O : 0 < square one) by (unfold square; nia).
  apply (Zmult_le_reg_r _ _ (square one)); lia.
Qed.

(* The same of L1 norms, where the probabilities lie between 0 and the unit. *)
Theorem softmax_l1 (between : forall k, 0 <= q k <= unit) (trace_positive : 0 <= trace) :
  unit - 2 * least + sum n q + trace <= longest ->
  sum n (fun k => Z.abs (scaled scale one (residual k))) + Z.abs (scaled scale one trace) <= unit.
Proof.
  intros L.
  assert (A : sum n (fun k => Z.abs (residual k)) = unit - 2 * q y + sum n q).
  { rewrite (sum_ext n _ (fun k => q k + (if Nat.eqb k y then unit - 2 * q k else 0))).
    - rewrite sum_add, (sum_at n y (fun k => unit - 2 * q k)), (proj2 (Nat.ltb_lt _ _) labelled). lia.
    - intros k _. unfold residual. pose proof (between k). destruct (Nat.eqb k y); lia. }
  assert (H : (sum n (fun k => Z.abs (scaled scale one (residual k))) + Z.abs (scaled scale one trace)) * one
              <= (sum n (fun k => Z.abs (residual k)) + Z.abs trace) * scale).
  { rewrite !Z.mul_add_distr_r, <- !sum_scale_right. apply Z.add_le_mono.
    - apply sum_le. intros. now apply scaled_abs.
    - now apply scaled_abs. }
  rewrite A, (Z.abs_eq trace) in H by lia.
  assert (G : (unit - 2 * q y + sum n q + trace) * scale <= longest * scale) by (apply Z.mul_le_mono_nonneg_r; lia).
  apply (Zmult_le_reg_r _ _ one); lia.
Qed.
End Softmax.

(* A weight of at most `most` / `one` lengthens no contribution by more than that factor, entry by entry. *)
Theorem weighted_l2 n (v : nat -> Z) weight most one : 0 <= weight <= most -> 0 < one ->
  sum n (fun k => square (scaled weight one (v k))) * square one <= sum n (fun k => square (v k)) * square most.
Proof.
  intros W O. rewrite <- !sum_scale_right. apply sum_le. intros k _.
  eapply Z.le_trans; [apply scaled_square; lia|]. apply Z.mul_le_mono_nonneg_l; [apply square_nonneg|].
  apply square_abs_le. lia.
Qed.
Theorem weighted_l1 n (v : nat -> Z) weight most one : 0 <= weight <= most -> 0 < one ->
  sum n (fun k => Z.abs (scaled weight one (v k))) * one <= sum n (fun k => Z.abs (v k)) * most.
Proof.
  intros W O. rewrite <- !sum_scale_right. apply sum_le. intros k _.
  eapply Z.le_trans; [apply scaled_abs; lia|]. apply Z.mul_le_mono_nonneg_l; lia.
Qed.

(* A residual, cut to an interval around 0, with a second channel that counts rows inside. *)
Definition clip (low high x : Z) : Z := Z.min (Z.max x low) high.
Theorem clipped_longest low high curvature x inside : low <= 0 <= high -> 0 <= inside <= curvature ->
  square (clip low high x) + square inside <= square (Z.max (- low) high) + square curvature.
Proof. intros H C. apply Z.add_le_mono; apply square_abs_le; unfold clip; lia. Qed.
Theorem clipped_diameter low high curvature x y inside outside : low <= 0 <= high ->
  0 <= inside <= curvature -> 0 <= outside <= curvature ->
  square (clip low high x - clip low high y) + square (inside - outside) <= square (high - low) + square curvature.
Proof. intros H C D. apply Z.add_le_mono; apply square_abs_le; unfold clip; lia. Qed.
Theorem clipped_l1 low high curvature x inside : low <= 0 <= high -> 0 <= inside <= curvature ->
  Z.abs (clip low high x) + Z.abs inside <= Z.max (- low) high + curvature.
Proof. intros H C. unfold clip. lia. Qed.

(* A vector that is looked up is no longer than the longest of the public table. *)
Definition longest_line (size : (nat -> Z) -> Z) (table : list (nat -> Z)) : Z := fold_right (fun v m => Z.max (size v) m) 0 table.
Theorem looked_up size table v : In v table -> size v <= longest_line size table.
Proof.
  induction table as [|w rest IH]; [intros []|intros [E|I]].
  - subst. cbn. lia.
  - cbn. specialize (IH I). unfold longest_line in IH. lia.
Qed.
