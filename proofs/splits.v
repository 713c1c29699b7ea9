(* Scores of splits (reference.py: split_score).  Class weights are cut at a cap, a row of weight d lies in one
   child of every candidate, and a node's risk rises by an amount between 0 and `step` when a row comes. *)
From Coq Require Import ZArith List Lia Arith Bool OrderedRing.
From Tacit Require Import finite_sums ordered.
Import ListNotations.

Record row := { label : bool; weight : Z }.

Section Ordered.
Variables (R : Type) (zero one : R) (plus times minus : R -> R -> R) (opp : R -> R) (le lt : R -> R -> Prop).
Hypothesis laws : SOR zero one plus times minus opp (@eq R) le lt.
Add Ring numbers : (SORrt laws).
Notation "0" := zero. Notation "1" := one. Infix "+" := plus. Infix "*" := times. Infix "-" := minus.
Infix "<=" := le. Infix "<" := lt. Notation total := (total R zero plus).
Let le_refl := le_refl _ _ _ _ _ _ _ _ _ laws. Let lt_le := lt_le _ _ _ _ _ _ _ _ _ laws.
Let minus_le := minus_le _ _ _ _ _ _ _ _ _ laws. Let le_minus := le_minus _ _ _ _ _ _ _ _ _ laws.
Let lt_minus := lt_minus _ _ _ _ _ _ _ _ _ laws. Let times_le := times_le _ _ _ _ _ _ _ _ _ laws.
Let cancel := cancel _ _ _ _ _ _ _ _ _ laws.
Let le_trans := Rle_trans laws. Let pos_pos := Rtimes_pos_pos laws. Let nonneg_nonneg := Rtimes_nonneg_nonneg laws.
Let plus_le := Rplus_le_mono laws. Let plus_nonneg := Rplus_nonneg_nonneg laws.

(* A risk of two class weights: w L(w1 / w) of a concave L is superadditive, and homogeneous. *)
Section Risk.
Variable risk : R -> R -> R.
Definition superadditive := forall a b c d, 0 <= a -> 0 <= b -> 0 <= c -> 0 <= d -> risk a b + risk c d <= risk (a + c) (b + d).
Definition homogeneous := forall c a b, 0 <= c -> 0 <= a -> 0 <= b -> risk (c * a) (c * b) = c * risk a b.
Definition pure_is_free := forall a, 0 <= a -> risk a 0 = 0 /\ risk 0 a = 0.
Hypotheses (super : superadditive) (homo : homogeneous) (free : pure_is_free).

Lemma falls_off a d b : 0 <= a -> 0 <= d -> 0 <= b -> risk (a + d) b <= risk a b + risk d b.
Proof.
  intros A D B. pose proof (plus_nonneg _ _ A D) as S.
  destruct (proj1 (Rle_lt_eq laws _ _) S) as [P|E].
  - apply (cancel (a + d)); [assumption|].
    replace ((a + d) * (risk a b + risk d b)) with ((a + d) * risk a b + (a + d) * risk d b) by ring.
    rewrite <- (homo (a + d) a b), <- (homo (a + d) d b) by assumption.
    replace ((a + d) * risk (a + d) b) with (a * risk (a + d) b + d * risk (a + d) b) by ring.
    rewrite <- (homo a (a + d) b), <- (homo d (a + d) b) by assumption. apply plus_le.
    + pose proof (super (a * (a + d)) (a * b) 0 (d * b) (nonneg_nonneg _ _ A S) (nonneg_nonneg _ _ A B) (le_refl 0) (nonneg_nonneg _ _ D B)) as H.
      rewrite (proj2 (free _ (nonneg_nonneg _ _ D B))) in H.
      replace (a * (a + d) + 0) with ((a + d) * a) in H by ring. replace (a * b + d * b) with ((a + d) * b) in H by ring.
      replace (risk (a * (a + d)) (a * b) + 0) with (risk (a * (a + d)) (a * b)) in H by ring. exact H.
    + pose proof (super (d * (a + d)) (d * b) 0 (a * b) (nonneg_nonneg _ _ D S) (nonneg_nonneg _ _ D B) (le_refl 0) (nonneg_nonneg _ _ A B)) as H.
      rewrite (proj2 (free _ (nonneg_nonneg _ _ A B))) in H.
      replace (d * (a + d) + 0) with ((a + d) * d) in H by ring. replace (d * b + a * b) with ((a + d) * b) in H by ring.
      replace (risk (d * (a + d)) (d * b) + 0) with (risk (d * (a + d)) (d * b)) in H by ring. exact H.
  - assert (Z : a = 0 /\ d = 0).
    { split; apply (Rle_antisymm laws); try assumption; rewrite E; apply minus_le.
      - replace (a + d - a) with d by ring. assumption.
      - replace (a + d - d) with a by ring. assumption. }
    destruct Z as [-> ->]. replace (0 + 0) with 0 by ring. rewrite (proj2 (free b B)). replace (0 + 0) with 0 by ring. apply le_refl.
Qed.
Lemma more_first a d b : 0 <= a -> 0 <= d -> 0 <= b -> risk a b <= risk (a + d) b.
Proof.
  intros A D B. pose proof (super a b d 0 A B D (le_refl 0)) as H. rewrite (proj1 (free d D)) in H.
  replace (risk a b + 0) with (risk a b) in H by ring. now replace (b + 0) with b in H by ring.
Qed.
Lemma more_second a d b : 0 <= a -> 0 <= d -> 0 <= b -> risk a b <= risk a (b + d).
Proof.
  intros A D B. pose proof (super a b 0 d A B (le_refl 0) D) as H. rewrite (proj2 (free d D)) in H.
  replace (risk a b + 0) with (risk a b) in H by ring. now replace (a + 0) with a in H by ring.
Qed.
(* A row of weight d <= unit raises the risk, by no more than a whole row that comes to a full node of the other class. *)
Theorem risk_rises a b d unit cap : 0 <= a -> 0 <= b -> b <= cap -> 0 <= d -> d <= unit ->
  0 <= risk (a + d) b - risk a b /\ risk (a + d) b - risk a b <= risk unit cap.
Proof.
  intros A B C D U. split; [apply le_minus; now apply more_first|].
  apply le_trans with (risk d b).
  - pose proof (le_minus _ _ (falls_off a d b A D B)) as H. apply minus_le.
    replace (risk d b - (risk (a + d) b - risk a b)) with (risk a b + risk d b - risk (a + d) b) by ring. exact H.
  - assert (0 <= unit) by now apply le_trans with d.
    apply le_trans with (risk unit b).
    + replace unit with (d + (unit - d)) by ring. apply more_first; try assumption. now apply le_minus.
    + replace cap with (b + (cap - b)) by ring. apply more_second; try assumption. now apply le_minus.
Qed.
End Risk.

(* M-alpha's risk, 2 alpha sqrt(a b) + 2 beta min(a, b), is of this kind. *)
Section MAlpha.
Variables (root : R -> R) (least : R -> R -> R) (alpha beta : R).
Hypothesis root_nonneg : forall x, 0 <= x -> 0 <= root x.
Hypothesis root_square : forall x, 0 <= x -> root x * root x = x.
Hypothesis least_below : forall x y, least x y <= x /\ least x y <= y.
Hypothesis least_one : forall x y, least x y = x \/ least x y = y.
Hypotheses (alpha_nonneg : 0 <= alpha) (beta_nonneg : 0 <= beta).
Definition m_alpha (a b : R) : R := alpha * ((1 + 1) * root (a * b)) + beta * ((1 + 1) * least a b).

Lemma by_squares x y : 0 <= y -> x * x <= y * y -> x <= y.
Proof.
  intros Y H. destruct (Rle_gt_cases laws x y) as [L|G]; [assumption|exfalso].
  pose proof (Rle_lt_trans laws _ _ _ Y G) as X. apply (proj1 (Rle_ngt laws _ _) H). apply (Rlt_lt_minus laws).
  replace (x * x - y * y) with ((x - y) * (x + y)) by ring.
  apply pos_pos; [now apply lt_minus|]. now apply (Rplus_pos_nonneg laws).
Qed.
Lemma root_super a b c d : 0 <= a -> 0 <= b -> 0 <= c -> 0 <= d -> root (a * b) + root (c * d) <= root ((a + c) * (b + d)).
Proof.
  intros A B C D. pose proof (nonneg_nonneg _ _ A B) as AB. pose proof (nonneg_nonneg _ _ C D) as CD.
  pose proof (nonneg_nonneg _ _ A D) as AD. pose proof (nonneg_nonneg _ _ B C) as BC.
  assert (S : 0 <= (a + c) * (b + d)) by (apply nonneg_nonneg; now apply plus_nonneg).
  apply by_squares; [now apply root_nonneg|]. rewrite (root_square _ S).
  set (p := root (a * b)). set (q := root (c * d)).
  assert (H : (1 + 1) * (p * q) <= a * d + b * c).
  { apply by_squares; [now apply plus_nonneg|].
    replace ((1 + 1) * (p * q) * ((1 + 1) * (p * q))) with ((1 + 1) * (1 + 1) * ((p * p) * (q * q))) by ring.
    unfold p, q. rewrite !root_square by assumption. apply minus_le.
    replace ((a * d + b * c) * (a * d + b * c) - (1 + 1) * (1 + 1) * (a * b * (c * d)))
      with ((a * d - b * c) * (a * d - b * c)) by ring. apply (Rtimes_square_nonneg laws). }
  apply minus_le. apply le_minus in H. assert (P : p * p = a * b) by now apply root_square. assert (Q : q * q = c * d) by now apply root_square.
  replace ((a + c) * (b + d) - (p + q) * (p + q)) with (a * b + c * d - (p * p + q * q) + (a * d + b * c - (1 + 1) * (p * q))) by ring.
  rewrite P, Q. replace (a * b + c * d - (a * b + c * d) + (a * d + b * c - (1 + 1) * (p * q)))
    with (a * d + b * c - (1 + 1) * (p * q)) by ring. exact H.
Qed.
Lemma root_zero : root 0 = 0.
Proof.
  destruct (Req_em laws (root 0) 0) as [E|N]; [assumption|exfalso].
  exact (Rtimes_neq_0 laws _ _ (conj N N) (root_square 0 (le_refl 0))).
Qed.
Lemma root_scale c x : 0 <= c -> 0 <= x -> root (c * c * x) = c * root x.
Proof.
  intros C X. assert (Y : 0 <= c * c * x) by (apply nonneg_nonneg; [now apply nonneg_nonneg|assumption]).
  assert (E : root (c * c * x) * root (c * c * x) = c * root x * (c * root x)).
  { rewrite root_square by assumption. replace (c * root x * (c * root x)) with (c * c * (root x * root x)) by ring. now rewrite root_square. }
  apply (Rle_antisymm laws); apply by_squares; try (rewrite E; apply le_refl); [apply nonneg_nonneg|]; auto.
Qed.
Lemma least_scale c a b : 0 <= c -> least (c * a) (c * b) = c * least a b.
Proof.
  intros C. destruct (least_below a b) as [L M]. destruct (least_below (c * a) (c * b)) as [N O].
  apply (Rle_antisymm laws).
  - destruct (least_one a b) as [-> | ->]; assumption.
  - destruct (least_one (c * a) (c * b)) as [-> | ->]; now apply times_le.
Qed.
Theorem m_alpha_is_superadditive : superadditive m_alpha.
Proof.
  intros a b c d A B C D. unfold m_alpha. pose proof (root_super a b c d A B C D) as Q.
  assert (L : least a b + least c d <= least (a + c) (b + d)).
  { destruct (least_below a b), (least_below c d), (least_one (a + c) (b + d)) as [-> | ->]; now apply plus_le. }
  assert (T : 0 <= 1 + 1) by (apply plus_nonneg; apply lt_le, (Rlt_0_1 laws)).
  apply le_minus in Q. apply le_minus in L. apply minus_le.
  replace (alpha * ((1 + 1) * root ((a + c) * (b + d))) + beta * ((1 + 1) * least (a + c) (b + d)) -
    (alpha * ((1 + 1) * root (a * b)) + beta * ((1 + 1) * least a b) + (alpha * ((1 + 1) * root (c * d)) + beta * ((1 + 1) * least c d))))
    with (alpha * ((1 + 1) * (root ((a + c) * (b + d)) - (root (a * b) + root (c * d)))) +
      beta * ((1 + 1) * (least (a + c) (b + d) - (least a b + least c d)))) by ring.
  apply plus_nonneg; (apply nonneg_nonneg; [assumption|]); now apply nonneg_nonneg.
Qed.
Theorem m_alpha_is_homogeneous : homogeneous m_alpha.
Proof.
  intros c a b C A B. unfold m_alpha. replace (c * a * (c * b)) with (c * c * (a * b)) by ring.
  rewrite root_scale, least_scale by (try apply nonneg_nonneg; assumption). ring.
Qed.
Theorem m_alpha_of_a_pure_node : pure_is_free m_alpha.
Proof.
  intros a A. assert (L : least a 0 = 0 /\ least 0 a = 0).
  { pose proof (least_below a 0) as [P Q]. pose proof (least_below 0 a) as [S T].
    split; apply (Rle_antisymm laws); try assumption.
    - destruct (least_one a 0) as [-> | ->]; [assumption|apply le_refl].
    - destruct (least_one 0 a) as [-> | ->]; [apply le_refl|assumption]. }
  destruct L as [L M]. unfold m_alpha. rewrite L, M. replace (a * 0) with 0 by ring. replace (0 * a) with 0 by ring.
  rewrite root_zero. split; ring.
Qed.
End MAlpha.

(* Scores: minus the risks of both children, rounded down to whole units.  `num` takes whole numbers to the ring. *)
Section Splits.
Variables (num : Z -> R) (risk : R -> R -> R) (floor : R -> Z) (unit cap step : Z).
Hypothesis num_zero : num 0%Z = 0.
Hypothesis num_plus : forall x y, num (x + y)%Z = num x + num y.
Hypothesis num_nonneg : forall x, (0 <= x)%Z -> 0 <= num x.
Hypotheses (super : superadditive risk) (homo : homogeneous risk) (free : pure_is_free risk).
Hypothesis floor_rises : forall x y, x <= y -> (floor x <= floor y)%Z.
Hypothesis floor_whole : forall x k, floor (x + num k) = (floor x + k)%Z.
Hypothesis step_enough : risk (num unit) (num cap) <= num step /\ risk (num cap) (num unit) <= num step.
Hypothesis cap_nonneg : (0 <= cap)%Z.

Definition weight_of (class : bool) (inside : row -> bool) (rows : list row) : Z :=
  fold_right (fun r s => ((if inside r && Bool.eqb (label r) class then weight r else 0) + s)%Z) 0%Z rows.
Definition capped (a b : Z) : R := risk (num (Z.min a cap)) (num (Z.min b cap)).
Definition node (inside : row -> bool) (rows : list row) : R := capped (weight_of true inside rows) (weight_of false inside rows).
Definition score (right : row -> bool) (rows : list row) : Z := floor (0 - (node right rows + node (fun r => negb (right r)) rows)).
Hypothesis weights_small : forall r, (0 <= weight r <= unit)%Z.

Lemma weight_nonneg class inside rows : (0 <= weight_of class inside rows)%Z.
Proof. induction rows as [|r rest IH]; cbn; [lia|]. fold (weight_of class inside rest). pose proof (weights_small r). destruct (inside r && _)%bool; lia. Qed.
Lemma num_le x y : (x <= y)%Z -> num x <= num y.
Proof. intros H. apply minus_le. replace y with (x + (y - x))%Z by lia. rewrite num_plus. replace (num x + num (y - x) - num x) with (num (y - x)) by ring. apply num_nonneg. lia. Qed.
Lemma rises_right a b d : (0 <= a)%Z -> (0 <= b)%Z -> (0 <= d <= unit)%Z -> 0 <= capped (a + d) b - capped a b /\ capped (a + d) b - capped a b <= num step.
Proof.
  intros A B D. unfold capped. replace (Z.min (a + d) cap) with (Z.min a cap + (Z.min (a + d) cap - Z.min a cap))%Z by lia. rewrite num_plus.
  destruct (risk_rises risk super homo free (num (Z.min a cap)) (num (Z.min b cap)) (num (Z.min (a + d) cap - Z.min a cap)) (num unit) (num cap))
    as [L U]; try (apply num_nonneg; lia); try (apply num_le; lia). split; [assumption|]. now apply le_trans with (risk (num unit) (num cap)).
Qed.
Lemma rises_left a b d : (0 <= a)%Z -> (0 <= b)%Z -> (0 <= d <= unit)%Z -> 0 <= capped a (b + d) - capped a b /\ capped a (b + d) - capped a b <= num step.
Proof.
  intros A B D. unfold capped. replace (Z.min (b + d) cap) with (Z.min b cap + (Z.min (b + d) cap - Z.min b cap))%Z by lia. rewrite num_plus.
  destruct (risk_rises (fun x y => risk y x) ltac:(intros p q r s; intros; now apply super) ltac:(intros c x y; intros; now apply homo)
    ltac:(intros x X; split; now apply free) (num (Z.min b cap)) (num (Z.min a cap)) (num (Z.min (b + d) cap - Z.min b cap)) (num unit) (num cap))
    as [L U]; try (apply num_nonneg; lia); try (apply num_le; lia). split; [assumption|]. now apply le_trans with (risk (num cap) (num unit)).
Qed.
Lemma outside inside rows r : inside r = false -> node inside (r :: rows) = node inside rows.
Proof. intros H. unfold node. cbn. now rewrite H. Qed.
Lemma inside_one inside rows r : inside r = true ->
  0 <= node inside (r :: rows) - node inside rows /\ node inside (r :: rows) - node inside rows <= num step.
Proof.
  intros H. unfold node. cbn. rewrite H. cbn [andb]. fold (weight_of true inside rows). fold (weight_of false inside rows).
  pose proof (weight_nonneg true inside rows). pose proof (weight_nonneg false inside rows). pose proof (weights_small r).
  destruct (label r); cbn [Bool.eqb].
  - rewrite Z.add_0_l, Z.add_comm. now apply rises_right.
  - rewrite Z.add_0_l, (Z.add_comm (weight r)). now apply rises_left.
Qed.
Lemma floor_moves x y : 0 <= y - x -> y - x <= num step -> (- step <= floor (minus zero y) - floor (minus zero x) <= 0)%Z.
Proof.
  intros L U. split.
  - assert (H : (floor (minus zero x) <= floor (plus (minus zero y) (num step)))%Z).
    { apply floor_rises, minus_le. apply le_minus in U. replace (0 - y + num step - (0 - x)) with (num step - (y - x)) by ring. exact U. }
    rewrite floor_whole in H. lia.
  - assert (H : (floor (minus zero y) <= floor (minus zero x))%Z).
    { apply floor_rises, minus_le. replace (0 - x - (0 - y)) with (y - x) by ring. exact L. }
    lia.
Qed.

(* All scores move the same way, by at most one step, however many rows there are. *)
Theorem one_way right rows r : (- step <= score right (r :: rows) - score right rows <= 0)%Z.
Proof.
  unfold score. apply floor_moves; destruct (right r) eqn:E.
  1, 3: pose proof (inside_one right rows r E) as [L U]; rewrite (outside (fun r => negb (right r))) by (cbn; now rewrite E);
    set (p := node right (r :: rows)) in *; set (q := node right rows) in *; set (s := node _ rows);
    replace (p + s - (q + s)) with (p - q) by ring; assumption.
  1, 2: pose proof (inside_one (fun r => negb (right r)) rows r ltac:(cbn; now rewrite E)) as [L U]; rewrite (outside right) by assumption;
    set (p := node (fun r => negb (right r)) (r :: rows)) in *; set (q := node (fun r => negb (right r)) rows) in *; set (s := node right rows);
    replace (s + p - (s + q)) with (p - q) by ring; assumption.
Qed.
(* So two candidates' scores move apart by at most one step; twice as much where the row is replaced. *)
Theorem range right right' rows r :
  ((score right (r :: rows) - score right rows) - (score right' (r :: rows) - score right' rows) <= step)%Z.
Proof. pose proof (one_way right rows r). pose proof (one_way right' rows r). lia. Qed.
Theorem range_replaced right right' rows r s :
  ((score right (r :: rows) - score right (s :: rows)) - (score right' (r :: rows) - score right' (s :: rows)) <= 2 * step)%Z.
Proof. pose proof (range right right' rows r). pose proof (range right' right rows s). lia. Qed.
(* The leaf of largest risk: a row is in one leaf, and raises that one's risk alone. *)
Theorem leaf_rises inside rows r : (0 <= floor (node inside (r :: rows)) - floor (node inside rows) <= step)%Z.
Proof.
  destruct (inside r) eqn:E; [|rewrite outside by assumption; pose proof (floor_moves (node inside rows) (node inside rows)) as H; rewrite Z.sub_diag].
  - destruct (inside_one inside rows r E) as [L U]. split.
    + assert (H : (floor (node inside rows) <= floor (node inside (r :: rows)))%Z) by now apply floor_rises, minus_le. lia.
    + assert (H : (floor (node inside (r :: rows)) <= floor (plus (node inside rows) (num step)))%Z).
      { apply floor_rises, minus_le. apply le_minus in U. set (p := node inside (r :: rows)) in *. set (q := node inside rows) in *.
        replace (q + num step - p) with (num step - (p - q)) by ring. exact U. }
      rewrite floor_whole in H. lia.
  - split; [lia|]. destruct (Z.le_gt_cases 0 step); [assumption|exfalso].
    assert (G : (floor zero <= floor (plus zero (num step)))%Z).
    { apply floor_rises, minus_le. replace (0 + num step - 0) with (num step) by ring. destruct step_enough as [S _].
      pose proof (num_nonneg _ cap_nonneg) as C. pose proof (weights_small r). pose proof (num_nonneg unit ltac:(lia)) as N.
      apply le_trans with (risk (num unit) (num cap)); [|assumption]. rewrite <- (proj2 (free (num cap) C)).
      destruct (risk_rises risk super homo free 0 (num cap) (num unit) (num unit) (num cap) (le_refl 0) C (le_refl _) N (le_refl _)) as [L _].
      rewrite (proj2 (free (num cap) C)) in *. replace (0 + num unit) with (num unit) in L by ring. now apply minus_le. }
    rewrite floor_whole in G. lia.
Qed.
End Splits.
End Ordered.

Open Scope Z_scope.
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
