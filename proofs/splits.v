(* Scores of splits (reference.py: split_score).  Class weights are cut at a cap, a row of weight d lies in one
   child of every candidate, and a node's risk rises by an amount between 0 and `step` when a row comes. *)
From Coq Require Import ZArith List Lia Arith Bool.
From Tacit Require Import finite_sums.
Import ListNotations. Open Scope Z_scope.

Section Splits.
Variable risk : Z -> Z -> Z.
Variables cap step : Z.
Hypothesis rises_right : forall a b d, 0 <= a -> 0 <= b <= cap -> 0 <= d -> a + d <= cap -> 0 <= risk (a + d) b - risk a b <= step.
Hypothesis rises_left : forall a b d, 0 <= a <= cap -> 0 <= b -> 0 <= d -> b + d <= cap -> 0 <= risk a (b + d) - risk a b <= step.
Hypothesis cap_nonneg : 0 <= cap.

Definition capped (a b : Z) : Z := risk (Z.min a cap) (Z.min b cap).
Record row := { label : bool; weight : Z }.
Definition weight_of (class : bool) (inside : row -> bool) (rows : list row) : Z :=
  fold_right (fun r s => (if inside r && Bool.eqb (label r) class then weight r else 0) + s) 0 rows.
Definition node (inside : row -> bool) (rows : list row) : Z := capped (weight_of true inside rows) (weight_of false inside rows).
Definition score (right : row -> bool) (rows : list row) : Z := - (node right rows + node (fun r => negb (right r)) rows).

Hypothesis weights_positive : forall r, 0 <= weight r.
Lemma weight_nonneg class inside rows : 0 <= weight_of class inside rows.
Proof. induction rows as [|r rest IH]; cbn; [lia|]. fold (weight_of class inside rest). pose proof (weights_positive r). destruct (inside r && _)%bool; lia. Qed.
Lemma capped_right a b d : 0 <= a -> 0 <= b -> 0 <= d -> 0 <= capped (a + d) b - capped a b <= step.
Proof.
  intros A B D. unfold capped. replace (Z.min (a + d) cap) with (Z.min a cap + (Z.min (a + d) cap - Z.min a cap)) by lia.
  apply rises_right; lia.
Qed.
Lemma capped_left a b d : 0 <= a -> 0 <= b -> 0 <= d -> 0 <= capped a (b + d) - capped a b <= step.
Proof.
  intros A B D. unfold capped. replace (Z.min (b + d) cap) with (Z.min b cap + (Z.min (b + d) cap - Z.min b cap)) by lia.
  apply rises_left; lia.
Qed.
Lemma outside inside rows r : inside r = false -> node inside (r :: rows) = node inside rows.
Proof. intros H. unfold node. cbn. now rewrite H. Qed.
Lemma inside_one inside rows r : inside r = true -> 0 <= node inside (r :: rows) - node inside rows <= step.
Proof.
  intros H. unfold node. cbn. rewrite H. cbn [andb]. fold (weight_of true inside rows). fold (weight_of false inside rows).
  pose proof (weight_nonneg true inside rows). pose proof (weight_nonneg false inside rows). pose proof (weights_positive r).
  destruct (label r); cbn [Bool.eqb].
  - rewrite Z.add_0_l, Z.add_comm. now apply capped_right.
  - rewrite Z.add_0_l, (Z.add_comm (weight r)). now apply capped_left.
Qed.

(* All scores move the same way, by at most one step, however many rows there are. *)
Theorem one_way right rows r : - step <= score right (r :: rows) - score right rows <= 0.
Proof.
  unfold score. destruct (right r) eqn:E.
  - pose proof (inside_one right rows r E). rewrite (outside (fun r => negb (right r))) by (cbn; now rewrite E). lia.
  - pose proof (inside_one (fun r => negb (right r)) rows r ltac:(cbn; now rewrite E)). rewrite (outside right) by assumption. lia.
Qed.
(* So two candidates' scores move apart by at most one step; twice as much where the row is replaced. *)
Theorem range right right' rows r :
  (score right (r :: rows) - score right rows) - (score right' (r :: rows) - score right' rows) <= step.
Proof. pose proof (one_way right rows r). pose proof (one_way right' rows r). lia. Qed.
Theorem range_replaced right right' rows r s :
  (score right (r :: rows) - score right (s :: rows)) - (score right' (r :: rows) - score right' (s :: rows)) <= 2 * step.
Proof. pose proof (range right right' rows r). pose proof (range right' right rows s). lia. Qed.
End Splits.

(* Gini's risk 4 a b / (a + b), without its factor 4: a row of weight d raises it by b^2 d / (s (s + d)), s = a + b, which
   is at most d (n - d) / n in a node of weight at most n.  Multiplied out, for whole numbers. *)
Theorem gini_rises a b d : 0 <= a -> 0 <= b -> 0 <= d ->
  (a + d) * b * (a + b) - a * b * (a + b + d) = b * b * d.
Proof. intros. ring. Qed.
Theorem gini_step b d s n : 0 <= b <= s -> 0 <= d -> s + d <= n -> b * b * d * n <= d * (n - d) * (s * (s + d)).
Proof.
  intros B D N.
  assert (H : s * n <= (n - d) * (s + d)) by nia.
  assert (G : b * b <= s * s) by nia.
  assert (F : b * b * n <= (n - d) * (s * (s + d))).
  { apply Z.le_trans with (s * s * n); [apply Z.mul_le_mono_nonneg_r; lia|].
    replace (s * s * n) with (s * (s * n)) by ring. replace ((n - d) * (s * (s + d))) with (s * ((n - d) * (s + d))) by ring.
    apply Z.mul_le_mono_nonneg_l; lia. }
  replace (b * b * d * n) with (d * (b * b * n)) by ring.
  replace (d * (n - d) * (s * (s + d))) with (d * ((n - d) * (s * (s + d)))) by ring.
  apply Z.mul_le_mono_nonneg_l; lia.
Qed.

(* Edges of splits move either way: by the row's weight, so that two candidates move apart by at most twice it. *)
Definition edge (right : row -> bool) (rows : list row) : Z :=
  fold_right (fun r s => (if right r then (if label r then weight r else - weight r) else 0) + s) 0 rows.
Theorem edges_range right right' rows r largest : 0 <= weight r <= largest ->
  (edge right (r :: rows) - edge right rows) - (edge right' (r :: rows) - edge right' rows) <= 2 * largest.
Proof.
  intros W. assert (C : forall f, edge f (r :: rows) = (if f r then (if label r then weight r else - weight r) else 0) + edge f rows)
    by reflexivity.
  rewrite !C. destruct (right r), (right' r), (label r); lia.
Qed.
