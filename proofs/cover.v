(* EM-cover: rules chosen one after the other with chances proportional to exp(scale * score), each of which removes the
   rows that it covers (reference.py: cover_score, uncovered, cover_moment).  For any two tables that differ in one row,
   or in one that is replaced, the moment E_P[(P/Q)^lambda] of a whole run is at most the value of a game of one step at a
   time in which only two kinds of rules meet.  Numbers are those of any ordered ring: of the reals, any order lambda > 0;
   `power` is x^lambda, `expo k` is exp(scale of step k) to a whole power. *)
From Coq Require Import ZArith List Lia Arith Bool OrderedRing.
From Tacit Require Import ordered.
Import ListNotations.

Section Ordered.
Variables (R : Type) (zero one : R) (plus times minus : R -> R -> R) (opp : R -> R) (le lt : R -> R -> Prop).
Hypothesis laws : SOR zero one plus times minus opp (@eq R) le lt.
Add Ring numbers : (SORrt laws).
Notation "0" := zero. Notation "1" := one. Infix "+" := plus. Infix "*" := times. Infix "-" := minus.
Infix "<=" := le. Infix "<" := lt. Notation total := (total R zero plus).
Let total_ext := total_ext R zero plus. Let le_trans := Rle_trans laws. Let pos_pos := Rtimes_pos_pos laws.
Let nonneg_nonneg := Rtimes_nonneg_nonneg laws.
Let le_refl := le_refl _ _ _ _ _ _ _ _ _ laws. Let lt_le := lt_le _ _ _ _ _ _ _ _ _ laws.
Let minus_le := minus_le _ _ _ _ _ _ _ _ _ laws. Let le_minus := le_minus _ _ _ _ _ _ _ _ _ laws.
Let lt_minus := lt_minus _ _ _ _ _ _ _ _ _ laws. Let times_le := times_le _ _ _ _ _ _ _ _ _ laws.
Let cancel := cancel _ _ _ _ _ _ _ _ _ laws. Let cancel_equal := cancel_equal _ _ _ _ _ _ _ _ _ laws.
Let total_le := total_le _ _ _ _ _ _ _ _ _ laws. Let total_linear := total_linear _ _ _ _ _ _ _ _ _ laws.
Let total_scale := total_scale _ _ _ _ _ _ _ _ _ laws. Let total_positive := total_positive _ _ _ _ _ _ _ _ _ laws.
Let total_zeros := total_zeros _ _ _ _ _ _ _ _ _ laws.
Let total_nonpositive := total_nonpositive _ _ _ _ _ _ _ _ _ laws.

Variable power : R -> R.
Hypothesis power_times : forall x y, 0 < x -> 0 < y -> power (x * y) = power x * power y.
Hypothesis power_positive : forall x, 0 < x -> 0 < power x.

(* One step: whatever the distribution is, two points do at least as well.  Weights a, ratios u, values f. *)
Section Step.
Variables (n : nat) (a u f : nat -> R) (most : R).
Hypothesis some : (0 < n)%nat.
Hypothesis weights : forall j, (j < n)%nat -> 0 < a j.
Hypothesis ratios : forall j, (j < n)%nat -> 0 < u j.
Hypothesis edges : forall i j x y, (i < n)%nat -> (j < n)%nat -> 0 <= x -> 0 <= y -> 0 < x + y ->
  power (x * u i + y * u j) * (x * f i + y * f j) <= most * (power (x + y) * (x + y)).
Let whole := total n a.
Let mean := total n (fun j => a j * u j).
Let away j := whole * u j - mean.
Let gain j := power mean * f j - most * power whole.

Lemma whole_positive : 0 < whole. Proof. now apply total_positive. Qed.
Lemma mean_positive : 0 < mean. Proof. apply total_positive; [assumption|]. intros. apply pos_pos; auto. Qed.
Lemma at_the_mean j : (j < n)%nat -> away j = 0 -> gain j <= 0.
Proof.
  intros J A. pose proof whole_positive as P.
  assert (M : whole * u j = mean) by (apply (Rminus_eq_0 laws); exact A).
  pose proof (edges j j whole 0 J J (lt_le _ _ P) (le_refl 0)) as E.
  replace (whole + 0) with whole in E by ring. specialize (E P).
  replace (whole * u j + 0 * u j) with mean in E by (rewrite <- M; ring).
  apply minus_le. replace (0 - gain j) with (most * power whole - power mean * f j) by (unfold gain; ring). apply le_minus.
  apply (cancel whole); [assumption|].
  replace (whole * (power mean * f j)) with (power mean * (whole * f j + 0 * f j)) by ring.
  replace (whole * (most * power whole)) with (most * (power whole * whole)) by ring. exact E.
Qed.
Lemma on_both_sides i j : (i < n)%nat -> (j < n)%nat -> 0 < 0 - away i -> 0 < away j ->
  away j * gain i <= gain j * away i.
Proof.
  intros I J L H. pose proof whole_positive as P. pose proof mean_positive as Q.
  set (d := u j - u i). assert (S : (0 - away i) + away j = whole * d) by (unfold away, d; ring).
  assert (D : 0 < d).
  { destruct (Rlt_trichotomy laws 0 d) as [X|[X|X]]; [assumption| |]; exfalso;
    pose proof (Rplus_pos_pos laws _ _ L H) as T; rewrite S in T.
    - rewrite <- X in T. replace (whole * 0) with 0 in T by ring. exact (Rlt_neq laws _ _ T eq_refl).
    - pose proof (Rtimes_pos_neg laws _ _ P X) as N.
      exact (Rlt_neq laws _ _ (Rlt_trans laws _ _ _ T N) eq_refl). }
  pose proof (edges i j (away j) (0 - away i) I J (lt_le _ _ H) (lt_le _ _ L)) as E.
  replace (away j + (0 - away i)) with (whole * d) in E by (rewrite <- S; ring). specialize (E (pos_pos _ _ P D)).
  replace (away j * u i + (0 - away i) * u j) with (mean * d) in E by (unfold away, d; ring).
  rewrite !power_times in E by assumption.
  assert (C : power mean * (away j * f i + (0 - away i) * f j) <= most * (power whole * (whole * d))).
  { apply (cancel (power d)); [now apply power_positive|].
    replace (power d * (power mean * (away j * f i + (0 - away i) * f j)))
      with (power mean * power d * (away j * f i + (0 - away i) * f j)) by ring.
    replace (power d * (most * (power whole * (whole * d)))) with (most * (power whole * power d * (whole * d))) by ring. exact E. }
  rewrite <- S in C. apply minus_le. apply le_minus in C.
  replace (gain j * away i - away j * gain i)
    with (most * (power whole * ((0 - away i) + away j)) - power mean * (away j * f i + (0 - away i) * f j))
    by (unfold gain; ring). exact C.
Qed.
(* The steepest of those above the mean. *)
Lemma steepest m : (m <= n)%nat -> (forall j, (j < m)%nat -> away j <= 0) \/
  exists b, (b < n)%nat /\ 0 < away b /\ forall j, (j < m)%nat -> 0 < away j -> away b * gain j <= gain b * away j.
Proof.
  induction m as [|m IH]; intros M; [left; lia|]. specialize (IH ltac:(lia)).
  destruct (Rle_gt_cases laws (away m) 0) as [L|H].
  - destruct IH as [N|[b [B [P S]]]]; [left|right].
    + intros j J. destruct (Nat.eq_dec j m) as [->|]; [assumption|]. apply N; lia.
    + exists b. repeat split; try assumption. intros j J A. destruct (Nat.eq_dec j m) as [->|]; [|apply S; [lia|assumption]].
      exfalso. exact (proj1 (Rle_ngt laws _ _) L A).
  - right. destruct IH as [N|[b [B [P S]]]].
    + exists m. repeat split; try assumption; try lia. intros j J A. destruct (Nat.eq_dec j m) as [->|].
      * replace (gain m * away m) with (away m * gain m) by ring. apply le_refl.
      * exfalso. exact (proj1 (Rle_ngt laws _ _) (N j ltac:(lia)) A).
    + destruct (Rle_gt_cases laws (away b * gain m) (gain b * away m)) as [L|G].
      * exists b. repeat split; try assumption. intros j J A. destruct (Nat.eq_dec j m) as [->|]; [assumption|]. apply S; [lia|assumption].
      * exists m. repeat split; try assumption; try lia. intros j J A. destruct (Nat.eq_dec j m) as [->|].
        { replace (gain m * away m) with (away m * gain m) by ring. apply le_refl. }
        apply (cancel (away b)); [assumption|]. apply le_trans with (away m * (gain b * away j)).
        { replace (away b * (away m * gain j)) with (away m * (away b * gain j)) by ring.
          apply times_le; [now apply lt_le|]. apply S; [lia|assumption]. }
        replace (away m * (gain b * away j)) with (away j * (gain b * away m)) by ring.
        replace (away b * (gain m * away j)) with (away j * (away b * gain m)) by ring.
        apply times_le; now apply lt_le.
Qed.
Lemma away_in_all : total n (fun j => a j * away j) = 0.
Proof.
  rewrite (total_ext n _ (fun j => whole * (a j * u j) + (0 - mean) * a j)) by (intros; unfold away; ring).
  rewrite total_linear. fold whole mean. ring.
Qed.
Theorem two_points_suffice : power mean * total n (fun j => a j * f j) <= most * (power whole * whole).
Proof.
  assert (T : total n (fun j => a j * gain j) = power mean * total n (fun j => a j * f j) - most * (power whole * whole)).
  { rewrite (total_ext n _ (fun j => power mean * (a j * f j) + (0 - most * power whole) * a j)) by (intros; unfold gain; ring).
    rewrite total_linear. fold whole. ring. }
  apply minus_le. replace (most * (power whole * whole) - power mean * total n (fun j => a j * f j))
    with (0 - total n (fun j => a j * gain j)) by (rewrite T; ring). apply le_minus.
  destruct (steepest n (Nat.le_refl n)) as [N|[b [B [P S]]]].
  - apply total_nonpositive. intros j J.
    assert (Z : a j * away j = 0).
    { apply (total_zeros n (fun k => a k * away k)); [|apply away_in_all|assumption]. intros k K.
      replace 0 with (a k * 0) by ring. apply times_le; [now apply lt_le, weights|now apply N]. }
    replace 0 with (a j * 0) by ring. apply times_le; [now apply lt_le, weights|]. apply at_the_mean; [assumption|].
    destruct (Rlt_trichotomy laws 0 (away j)) as [X|[X|X]]; [exfalso|now symmetry|exfalso].
    + exact (proj1 (Rle_ngt laws _ _) (N j J) X).
    + pose proof (Rtimes_pos_neg laws _ _ (weights j J) X) as Y. rewrite Z in Y. exact (Rlt_neq laws _ _ Y eq_refl).
  - apply (cancel (away b)); [assumption|]. rewrite <- total_scale.
    apply le_trans with (total n (fun j => gain b * (a j * away j))); [|rewrite total_scale, away_in_all;
      replace (gain b * 0) with (away b * 0) by ring; apply le_refl]. apply total_le. intros j J.
    replace (away b * (a j * gain j)) with (a j * (away b * gain j)) by ring.
    replace (gain b * (a j * away j)) with (a j * (gain b * away j)) by ring.
    apply times_le; [now apply lt_le, weights|].
    destruct (Rlt_trichotomy laws 0 (away j)) as [X|[X|X]].
    + now apply S.
    + rewrite <- X. replace (gain b * 0) with (away b * 0) by ring. apply times_le; [now apply lt_le|]. now apply at_the_mean.
    + apply on_both_sides; try assumption. now apply lt_minus.
Qed.
End Step.
(* The run.  `past` are the places of the options that were drawn before, which the public menu may depend on; k is the
   number of steps that are to come. *)
Section Run.
Variables (Row : Type) (options : list nat -> nat) (covers right : list nat -> nat -> Row -> bool).
Variables (offset : list nat -> nat -> Z) (reward penalty : nat -> Z) (expo : nat -> Z -> R).
Hypothesis options_some : forall past, (0 < options past)%nat.
Hypothesis expo_positive : forall k x, 0 < expo k x.
Hypothesis expo_plus : forall k x y, expo k (x + y)%Z = expo k x * expo k y.

Inductive effect := Passes | Errs | Hits.  (* a rule does not cover a row, covers it and is wrong, or right *)
Definition effect_of (past : list nat) (j : nat) (r : Row) : effect :=
  if covers past j r then (if right past j r then Hits else Errs) else Passes.
Definition worth_of (k : nat) (e : effect) : Z := match e with Passes => 0%Z | Errs => (- penalty k)%Z | Hits => reward k end.
Definition cover_score k past j (rows : list Row) : Z :=
  fold_right (fun r s => (worth_of k (effect_of past j r) + s)%Z) (offset past j) rows.
Definition uncovered past j (rows : list Row) : list Row := filter (fun r => negb (covers past j r)) rows.
Definition weight k past rows j : R := expo k (cover_score k past j rows).

(* m is the moment of what is to come: the sum over options j of P(j) (P(j) / Q(j))^lambda v j, with P(j) = weight / total,
   ratio j = (weight on p / weight on q)^lambda, and v j the moment after j; multiplied out. *)
Fixpoint moment (k : nat) (past : list nat) (p q : list Row) (m : R) : Prop :=
  match k with
  | O => m = 1
  | S rest => exists v ratio : nat -> R,
      (forall j, (j < options past)%nat ->
         moment rest (j :: past) (uncovered past j p) (uncovered past j q) (v j) /\
         ratio j * power (weight k past q j) = power (weight k past p j)) /\
      m * (power (total (options past) (weight k past p)) * total (options past) (weight k past p)) =
      power (total (options past) (weight k past q)) * total (options past) (fun j => weight k past p j * (ratio j * v j))
  end.

(* The game: `bound k p q` bounds k steps where P still holds the row of its own (p) and Q one of its own (q).  A step in
   which two kinds of rules meet, with any weights, is worth no more; the library computes such bounds. *)
Variable bound : nat -> bool -> bool -> R.
Definition possible (held : bool) (e : effect) : Prop := held = true \/ e = Passes.
Definition stays (held : bool) (e : effect) : bool := match e with Passes => held | _ => false end.
Definition shift k (e e' : effect) : Z := (worth_of k e' - worth_of k e)%Z.
Definition factor k (e e' : effect) : R := expo k (shift k e e').
Definition onward k (p q : bool) (e e' : effect) : R :=
  power (expo (S k) (- shift (S k) e e')%Z) * bound k (stays p e) (stays q e').
Hypothesis game_ends : forall p q, 1 <= bound 0 p q.
Hypothesis game : forall k p q e e' d d', possible p e -> possible q e' -> possible p d -> possible q d' ->
  forall x y, 0 <= x -> 0 <= y -> 0 < x + y ->
  power (x * factor (S k) e e' + y * factor (S k) d d') * (x * onward k p q e e' + y * onward k p q d d')
    <= bound (S k) p q * (power (x + y) * (x + y)).

Definition with_row (r : option Row) (rows : list Row) : list Row := match r with Some x => x :: rows | None => rows end.
Definition held (r : option Row) : bool := match r with Some _ => true | None => false end.
Definition effect_on past j (r : option Row) : effect := match r with Some x => effect_of past j x | None => Passes end.
Definition after past j (r : option Row) : option Row :=
  match r with Some x => if covers past j x then None else Some x | None => None end.

(* A row moves the scores of rules that cover it, by its worth and nothing else; the chosen rule takes it away. *)
Theorem a_row_moves_its_rules k past j r rows :
  cover_score k past j (with_row r rows) = (cover_score k past j rows + worth_of k (effect_on past j r))%Z.
Proof.
  destruct r as [x|]; unfold cover_score; cbn [with_row fold_right effect_on worth_of]; [|lia].
  fold (cover_score k past j rows). generalize (worth_of k (effect_of past j x)). intros. lia.
Qed.
Theorem a_chosen_rule_removes_its_rows past j r rows :
  uncovered past j (with_row r rows) = with_row (after past j r) (uncovered past j rows).
Proof. destruct r as [x|]; cbn; [|reflexivity]. destruct (covers past j x); reflexivity. Qed.
Lemma held_after past j r : held (after past j r) = stays (held r) (effect_on past j r).
Proof. destruct r as [x|]; cbn; [|reflexivity]. unfold effect_of. destruct (covers past j x); cbn; [|reflexivity]. now destruct (right past j x). Qed.
Lemma possible_effect past j r : possible (held r) (effect_on past j r).
Proof. destruct r; cbn; [now left|now right]. Qed.

Lemma weights_apart k past j p q rows : weight k past (with_row q rows) j =
  weight k past (with_row p rows) j * factor k (effect_on past j p) (effect_on past j q).
Proof.
  unfold weight, factor, shift. rewrite <- expo_plus, !a_row_moves_its_rules. f_equal. lia.
Qed.
Lemma ratio_is k past j p q rows ratio :
  ratio * power (weight k past (with_row q rows) j) = power (weight k past (with_row p rows) j) ->
  ratio = power (expo k (- shift k (effect_on past j p) (effect_on past j q))%Z).
Proof.
  intros E. set (s := shift k (effect_on past j p) (effect_on past j q)) in *.
  assert (W : weight k past (with_row p rows) j = weight k past (with_row q rows) j * expo k (- s)%Z).
  { rewrite (weights_apart k past j p q rows). unfold factor. fold s. unfold weight. rewrite <- !expo_plus. f_equal. lia. }
  apply (cancel_equal (power (weight k past (with_row q rows) j))); [apply power_positive, expo_positive|].
  rewrite <- power_times by apply expo_positive. rewrite <- W, <- E. ring.
Qed.

Theorem the_game_bounds_every_run k : forall past p q rows m,
  moment k past (with_row p rows) (with_row q rows) m -> m <= bound k (held p) (held q).
Proof.
  induction k as [|k IH]; intros past p q rows m M; cbn [moment] in M.
  - subst. apply game_ends.
  - destruct M as [v [ratio [H E]]]. set (n := options past) in *. set (k' := S k) in *.
    set (a := weight k' past (with_row p rows)) in *.
    set (u := fun j => factor k' (effect_on past j p) (effect_on past j q)).
    set (f := fun j => onward k (held p) (held q) (effect_on past j p) (effect_on past j q)).
    assert (A : forall j, (j < n)%nat -> 0 < a j) by (intros; apply expo_positive).
    assert (P : 0 < total n a) by (apply total_positive; [apply options_some|assumption]).
    assert (T : total n (weight k' past (with_row q rows)) = total n (fun j => a j * u j)).
    { apply total_ext. intros. apply weights_apart. }
    assert (Q : 0 < total n (fun j => a j * u j)).
    { apply total_positive; [apply options_some|]. intros. apply pos_pos; [now apply A|apply expo_positive]. }
    apply (cancel (power (total n a) * total n a)); [apply pos_pos; [now apply power_positive|assumption]|].
    replace (power (total n a) * total n a * m) with (m * (power (total n a) * total n a)) by ring. rewrite E, T.
    apply le_trans with (power (total n (fun j => a j * u j)) * total n (fun j => a j * f j)).
    + apply times_le; [apply lt_le; now apply power_positive|]. apply total_le. intros j J.
      destruct (H j J) as [M R']. apply times_le; [apply lt_le; now apply A|].
      unfold f, onward. rewrite (ratio_is _ _ _ _ _ _ _ R'). apply times_le; [apply lt_le, power_positive, expo_positive|].
      rewrite !a_chosen_rule_removes_its_rows in M. apply IH in M. now rewrite !held_after in M.
    + replace (power (total n a) * total n a * bound k' (held p) (held q))
        with (bound k' (held p) (held q) * (power (total n a) * total n a)) by ring.
      apply (two_points_suffice n a u f); [apply options_some|assumption|intros; apply expo_positive|].
      intros i j x y I J X Y S. apply game; try assumption; apply possible_effect.
Qed.

(* Without moments: `m` bounds P / Q of every run where each step's share of it does. *)
Fixpoint likelier (k : nat) (past : list nat) (p q : list Row) (m : R) : Prop :=
  match k with
  | O => 1 <= m
  | S rest => exists v : nat -> R, forall j, (j < options past)%nat ->
      likelier rest (j :: past) (uncovered past j p) (uncovered past j q) (v j) /\
      weight k past p j * total (options past) (weight k past q) * v j <=
        m * (weight k past q j * total (options past) (weight k past p))
  end.
Variables (top worst : nat -> bool -> bool -> R).
Hypothesis ratios_end : forall p q, 1 <= worst 0 p q.
Hypothesis worst_positive : forall k p q, 0 < worst k p q.
Hypothesis top_of_all : forall k p q e e', possible p e -> possible q e' -> factor (S k) e e' <= top k p q.
Hypothesis ratio_game : forall k p q e e', possible p e -> possible q e' ->
  top k p q * worst k (stays p e) (stays q e') <= worst (S k) p q * factor (S k) e e'.

Theorem no_run_is_likelier k : forall past p q rows,
  likelier k past (with_row p rows) (with_row q rows) (worst k (held p) (held q)).
Proof.
  induction k as [|k IH]; intros past p q rows; cbn [likelier]; [apply ratios_end|].
  exists (fun j => worst k (stays (held p) (effect_on past j p)) (stays (held q) (effect_on past j q))). intros j J.
  set (n := options past) in *. set (a := weight (S k) past (with_row p rows)).
  set (u := fun i => factor (S k) (effect_on past i p) (effect_on past i q)).
  rewrite !a_chosen_rule_removes_its_rows, <- !held_after. split; [apply IH|]. rewrite !held_after.
  set (v := worst k (stays (held p) (effect_on past j p)) (stays (held q) (effect_on past j q))).
  assert (T : total n (weight (S k) past (with_row q rows)) <= top k (held p) (held q) * total n a).
  { rewrite <- total_scale. apply total_le. intros i I. rewrite (weights_apart (S k) past i p q rows).
    replace (top k (held p) (held q) * a i) with (a i * top k (held p) (held q)) by ring.
    apply times_le; [apply lt_le, expo_positive|]. apply top_of_all; apply possible_effect. }
  rewrite (weights_apart (S k) past j p q rows). change (factor (S k) (effect_on past j p) (effect_on past j q)) with (u j).
  change (weight (S k) past (with_row p rows) j) with (a j).
  assert (A : 0 <= a j) by (apply lt_le, expo_positive).
  assert (V : 0 <= v) by apply lt_le, worst_positive.
  assert (P : 0 <= total n a) by (apply lt_le, total_positive; [apply options_some|]; intros; apply expo_positive).
  apply le_trans with (a j * v * (top k (held p) (held q) * total n a)).
  - set (t := total n (weight (S k) past (with_row q rows))) in *. replace (a j * t * v) with (a j * v * t) by ring.
    apply times_le; [now apply nonneg_nonneg|exact T].
  - replace (a j * v * (top k (held p) (held q) * total n a)) with (a j * total n a * (top k (held p) (held q) * v)) by ring.
    replace (worst (S k) (held p) (held q) * (a j * u j * total n a))
      with (a j * total n a * (worst (S k) (held p) (held q) * u j)) by ring.
    apply times_le; [now apply nonneg_nonneg|]. exact (ratio_game _ _ _ _ _ (possible_effect _ _ _) (possible_effect _ _ _)).
Qed.
End Run.
End Ordered.
