(* The exponential mechanism over scores that a row moves one way (reference.py: choice_weights).
   exp(1) is a ratio up / down >= 1 of whole numbers; a score q between 0 and top has the weight up^q down^(top - q). *)
From Coq Require Import ZArith List Lia Arith Bool.
From Tacit Require Import finite_sums.
Open Scope Z_scope.

Section Choice.
Variables up down top range : Z.
Hypothesis positive : 0 < down.
Hypothesis above_one : down <= up.
Hypothesis range_nonneg : 0 <= range.
Definition weight (q : Z) : Z := up ^ q * down ^ (top - q).
Definition scored (q : nat -> Z) : Prop := forall i, 0 <= q i <= top.

Lemma weight_positive q : 0 <= q <= top -> 0 < weight q.
Proof. intros. unfold weight. apply Z.mul_pos_pos; apply Z.pow_pos_nonneg; lia. Qed.

Lemma power_step a b t : 0 <= a <= t -> 0 <= b <= t -> a <= b + range ->
  up ^ a * down ^ (t - a) * down ^ range <= up ^ b * down ^ (t - b) * up ^ range.
Proof.
  intros A B R. pose proof (fun e => Z.pow_le_mono_l down up e ltac:(lia)) as M.
  assert (P : forall e, 0 <= e -> 0 < down ^ e) by (intros; apply Z.pow_pos_nonneg; lia).
  assert (U : forall e, 0 <= e -> 0 < up ^ e) by (intros; apply Z.pow_pos_nonneg; lia).
  destruct (Z.le_gt_cases a b) as [L|G].
  - replace b with (a + (b - a)) by lia. replace (t - a) with ((t - (a + (b - a))) + (b - a)) by lia.
    rewrite !Z.pow_add_r by lia.
    pose proof (M (b - a)). pose proof (M range). pose proof (U a ltac:(lia)). pose proof (P (t - (a + (b - a))) ltac:(lia)).
    replace (up ^ a * (down ^ (t - (a + (b - a))) * down ^ (b - a)) * down ^ range)
      with ((up ^ a * down ^ (t - (a + (b - a)))) * (down ^ (b - a) * down ^ range)) by ring.
    replace (up ^ a * up ^ (b - a) * down ^ (t - (a + (b - a))) * up ^ range)
      with ((up ^ a * down ^ (t - (a + (b - a)))) * (up ^ (b - a) * up ^ range)) by ring.
    apply Z.mul_le_mono_nonneg_l; [apply Z.mul_nonneg_nonneg; lia|].
    apply Z.mul_le_mono_nonneg; try lia; apply Z.lt_le_incl, P; lia.
  - set (e := a - b). replace a with (b + e) by (unfold e; lia). replace (t - b) with ((t - (b + e)) + e) by lia.
    replace range with (e + (range - e)) by lia. rewrite !Z.pow_add_r by (unfold e; lia).
    pose proof (M (range - e)). pose proof (U b ltac:(lia)). pose proof (P (t - (b + e)) ltac:(unfold e; lia)).
    pose proof (U e ltac:(unfold e; lia)). pose proof (P e ltac:(unfold e; lia)).
    replace (up ^ b * up ^ e * down ^ (t - (b + e)) * (down ^ e * down ^ (range - e)))
      with ((up ^ b * up ^ e * down ^ (t - (b + e)) * down ^ e) * down ^ (range - e)) by ring.
    replace (up ^ b * (down ^ (t - (b + e)) * down ^ e) * (up ^ e * up ^ (range - e)))
      with ((up ^ b * up ^ e * down ^ (t - (b + e)) * down ^ e) * up ^ (range - e)) by ring.
    apply Z.mul_le_mono_nonneg_l; [|lia]. repeat apply Z.mul_nonneg_nonneg; lia.
Qed.

Variables (n : nat) (q q' : nat -> Z).
Hypothesis before : scored q.
Hypothesis after : scored q'.
(* How differently two candidates' scores move: at most the range (scores that move one way by up to the range, too). *)
Hypothesis moves : forall i j, (q' i - q i) - (q' j - q j) <= range.

(* The ratio of two outcomes' probabilities moves by a factor of at most (up / down)^range: bounded range. *)
Theorem bounded_range i j : weight (q' i) * weight (q j) * down ^ range <= weight (q i) * weight (q' j) * up ^ range.
Proof.
  pose proof (before i). pose proof (before j). pose proof (after i). pose proof (after j). pose proof (moves i j).
  unfold weight.
  pose proof (power_step (q' i + q j) (q i + q' j) (top + top) ltac:(lia) ltac:(lia) ltac:(lia)) as S.
  replace (top + top - (q' i + q j)) with ((top - q' i) + (top - q j)) in S by lia.
  replace (top + top - (q i + q' j)) with ((top - q i) + (top - q' j)) in S by lia.
  rewrite !Z.pow_add_r in S by lia. lia.
Qed.
(* And every outcome's probability by no more: pure differential privacy. *)
Theorem pure i : weight (q' i) * sum n (fun j => weight (q j)) * down ^ range
                 <= weight (q i) * sum n (fun j => weight (q' j)) * up ^ range.
Proof.
  rewrite <- !sum_scale, <- !sum_scale_right. apply sum_le. intros j _. apply bounded_range.
Qed.
End Choice.

(* Scores that a row can only raise, each by at most one step, move apart by at most that step. *)
Theorem one_sided (q q' : nat -> Z) step : (forall i, 0 <= q' i - q i <= step) -> forall i j, (q' i - q i) - (q' j - q j) <= step.
Proof. intros H i j. pose proof (H i). pose proof (H j). lia. Qed.
(* A replaced row is one removed and one added: twice. *)
Theorem replaced (q middle q' : nat -> Z) step :
  (forall i j, (middle i - q i) - (middle j - q j) <= step) -> (forall i j, (q' i - middle i) - (q' j - middle j) <= step) ->
  forall i j, (q' i - q i) - (q' j - q j) <= 2 * step.
Proof. intros A B i j. pose proof (A i j). pose proof (B i j). lia. Qed.
(* Error counts of concepts: a row adds an error or none to each. *)
Section Errors.
Variables (Row : Type) (wrong : nat -> Row -> bool).
Definition errors (rows : list Row) (i : nat) : Z := fold_right (fun r s => (if wrong i r then 1 else 0) + s) 0 rows.
Theorem errors_move_one_way rows r i : 0 <= errors (r :: rows) i - errors rows i <= 1.
Proof. cbn. fold (errors rows i). destruct (wrong i r); lia. Qed.
(* The least errors of a completion: a minimum of counts that each rise by 0 or 1 rises by 0 or 1. *)
Definition least (first : nat) (others : list nat) (count : nat -> Z) : Z :=
  fold_right (fun i m => Z.min (count i) m) (count first) others.
Theorem completions_move_one_way rows r first others :
  0 <= least first others (errors (r :: rows)) - least first others (errors rows) <= 1.
Proof.
  induction others as [|i rest IH].
  - apply errors_move_one_way.
  - change (least first (i :: rest) (errors (r :: rows)))
      with (Z.min (errors (r :: rows) i) (least first rest (errors (r :: rows)))).
    change (least first (i :: rest) (errors rows)) with (Z.min (errors rows i) (least first rest (errors rows))).
    pose proof (errors_move_one_way rows r i). lia.
Qed.
End Errors.
