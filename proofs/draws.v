(* A private learner on independent draws (reference.py: drawn_chance).  Two distributions over the rows have all but a
   share z in common: (1 - z) c + z a and (1 - z) c + z b.  A learner that is (epsilon, delta)-private where one of its k
   rows is replaced is (epsilon', delta')-private between draws from the one and draws from the other. *)
From Coq Require Import ZArith List Lia Arith Bool OrderedRing.
From Tacit Require Import ordered.
Import ListNotations.

Section Ordered.
Variables (R : Type) (zero one : R) (plus times minus : R -> R -> R) (opp : R -> R) (le lt : R -> R -> Prop).
Hypothesis laws : SOR zero one plus times minus opp (@eq R) le lt.
Add Ring numbers : (SORrt laws).
Notation "0" := zero. Notation "1" := one. Infix "+" := plus. Infix "*" := times. Infix "-" := minus.
Infix "<=" := le. Infix "<" := lt. Notation total := (total R zero plus).
Let total_ext := total_ext R zero plus. Let le_trans := Rle_trans laws. Let plus_le := Rplus_le_mono laws.
Let nonneg_nonneg := Rtimes_nonneg_nonneg laws.
Let le_refl := le_refl _ _ _ _ _ _ _ _ _ laws. Let lt_le := lt_le _ _ _ _ _ _ _ _ _ laws.
Let minus_le := minus_le _ _ _ _ _ _ _ _ _ laws. Let le_minus := le_minus _ _ _ _ _ _ _ _ _ laws.
Let times_le := times_le _ _ _ _ _ _ _ _ _ laws. Let cancel := cancel _ _ _ _ _ _ _ _ _ laws.
Let total_le := total_le _ _ _ _ _ _ _ _ _ laws. Let total_linear := total_linear _ _ _ _ _ _ _ _ _ laws.
Let total_scale := total_scale _ _ _ _ _ _ _ _ _ laws.

Variables (n : nat) (E delta z : R).  (* rows; e^epsilon and delta of the learner; how far apart the distributions are *)
Hypothesis E_above : 1 <= E.
Hypothesis delta_nonneg : 0 <= delta.
Hypothesis z_nonneg : 0 <= z.
Hypothesis z_small : z <= 1.

Fixpoint expect (draws : list (nat -> R)) (chance : list nat -> R) : R :=
  match draws with nil => chance nil | d :: rest => total n (fun r => d r * expect rest (fun sample => chance (r :: sample))) end.
Definition distribution (d : nat -> R) : Prop := (forall r, (r < n)%nat -> 0 <= d r) /\ total n d = 1.
(* `chance sample`: of an outcome on a sample; one draw that is replaced moves it no further than the learner claims. *)
Definition private (chance : list nat -> R) : Prop := forall before r r' rest,
  chance (before ++ r :: rest) <= E * chance (before ++ r' :: rest) + delta.
Lemma private_later chance r : private chance -> private (fun sample => chance (r :: sample)).
Proof. intros P before s s' rest. apply (P (r :: before)). Qed.

Lemma average d f x : distribution d -> (forall r, (r < n)%nat -> f r <= x) -> total n (fun r => d r * f r) <= x.
Proof.
  intros [N T] H. apply le_trans with (total n (fun r => x * d r)); [|rewrite total_scale, T; replace (x * 1) with x by ring; apply le_refl].
  apply total_le. intros r I. replace (x * d r) with (d r * x) by ring. apply times_le; auto.
Qed.
Lemma average_above d f x : distribution d -> (forall r, (r < n)%nat -> x <= f r) -> x <= total n (fun r => d r * f r).
Proof.
  intros [N T] H. apply le_trans with (total n (fun r => x * d r)); [rewrite total_scale, T; replace (x * 1) with x by ring; apply le_refl|].
  apply total_le. intros r I. replace (x * d r) with (d r * x) by ring. apply times_le; auto.
Qed.
Lemma expect_le draws : Forall distribution draws -> forall f g c d, (forall sample, f sample <= c * g sample + d) ->
  expect draws f <= c * expect draws g + d.
Proof.
  induction 1 as [|e rest D _ IH]; intros f g c d H; cbn; [apply H|].
  apply le_trans with (total n (fun r => c * (e r * expect rest (fun s => g (r :: s))) + d * e r)).
  - apply total_le. intros r I. replace (c * (e r * expect rest (fun s => g (r :: s))) + d * e r)
      with (e r * (c * expect rest (fun s => g (r :: s)) + d)) by ring.
    apply times_le; [now apply D|]. apply IH. intros. apply H.
  - rewrite total_linear, (proj2 D). replace (d * 1) with d by ring. apply le_refl.
Qed.

(* Draws from `a` where a coin of weight z says so, and from `c` elsewhere. *)
Definition picked (c a : nat -> R) (coins : list bool) : list (nat -> R) := map (fun coin : bool => if coin then a else c) coins.
Fixpoint raised (b : R) (coins : list bool) : R := match coins with nil => 1 | coin :: l => (if coin then b else 1) * raised b l end.
Fixpoint steps (coins : list bool) : R := match coins with nil => 0 | coin :: l => (if coin then raised E l else 0) + steps l end.
Fixpoint mixed (k : nat) (f : list bool -> R) : R :=
  match k with O => f nil | S m => (1 - z) * mixed m (fun l => f (false :: l)) + z * mixed m (fun l => f (true :: l)) end.
Definition mixture (c a : nat -> R) (r : nat) : R := (1 - z) * c r + z * a r.
Fixpoint rate (b : R) (k : nat) : R := match k with O => 1 | S m => (1 - z + z * b) * rate b m end.

Lemma picked_distributions c a coins : distribution c -> distribution a -> Forall distribution (picked c a coins).
Proof. intros. induction coins as [|[] l IH]; cbn; constructor; assumption. Qed.
Lemma raised_above coins : 1 <= raised E coins.
Proof.
  induction coins as [|[] l IH]; cbn; [apply le_refl| |replace (1 * raised E l) with (raised E l) by ring; assumption].
  apply le_trans with (E * 1); [replace (E * 1) with E by ring; assumption|]. apply times_le; [|assumption].
  apply le_trans with 1; [apply lt_le, (Rlt_0_1 laws)|assumption].
Qed.
Lemma E_nonneg : 0 <= E. Proof. apply le_trans with 1; [apply lt_le, (Rlt_0_1 laws)|assumption]. Qed.
Lemma raised_nonneg coins : 0 <= raised E coins.
Proof. apply le_trans with 1; [apply lt_le, (Rlt_0_1 laws)|apply raised_above]. Qed.
Lemma steps_are coins : (E - 1) * steps coins = raised E coins - 1.
Proof.
  induction coins as [|[] l IH]; cbn; [ring| |].
  - replace ((E - 1) * (raised E l + steps l)) with ((E - 1) * raised E l + (E - 1) * steps l) by ring. rewrite IH. ring.
  - replace ((E - 1) * (0 + steps l)) with ((E - 1) * steps l) by ring. rewrite IH. ring.
Qed.
(* Group privacy, over draws. *)
Lemma groups c a b coins : distribution c -> distribution a -> distribution b -> forall chance, private chance ->
  expect (picked c a coins) chance <= raised E coins * expect (picked c b coins) chance + delta * steps coins.
Proof.
  intros C A B. induction coins as [|coin l IH]; intros chance P.
  - cbn. replace (1 * chance nil + delta * 0) with (chance nil) by ring. apply le_refl.
  - set (X r := expect (picked c a l) (fun s => chance (r :: s))). set (Y r := expect (picked c b l) (fun s => chance (r :: s))).
    assert (H : forall r, X r <= raised E l * Y r + delta * steps l) by (intros; apply IH, private_later, P).
    destruct coin; cbn [picked map expect raised steps]; fold (picked c a l) (picked c b l).
    + change (total n (fun r => a r * X r) <= E * raised E l * total n (fun r => b r * Y r) + delta * (raised E l + steps l)).
      apply average; [assumption|]. intros r I. eapply le_trans; [apply H|].
      assert (M : Y r <= E * total n (fun s => b s * Y s) + delta).
      { apply le_trans with (total n (fun s => b s * (E * Y s + delta))).
        - apply average_above; [assumption|]. intros s J. unfold Y. apply expect_le; [now apply picked_distributions|].
          intros sample. apply (P nil).
        - rewrite (total_ext n _ (fun s => E * (b s * Y s) + delta * b s)) by (intros; ring).
          rewrite total_linear, (proj2 B). replace (delta * 1) with delta by ring. apply le_refl. }
      apply minus_le. apply le_minus in M. pose proof (nonneg_nonneg _ _ (raised_nonneg l) M) as N.
      set (T := total n (fun s => b s * Y s)) in *.
      replace (E * raised E l * T + delta * (raised E l + steps l) - (raised E l * Y r + delta * steps l))
        with (raised E l * (E * T + delta - Y r)) by ring. exact N.
    + change (total n (fun r => c r * X r) <= 1 * raised E l * total n (fun r => c r * Y r) + delta * (0 + steps l)).
      apply le_trans with (total n (fun r => raised E l * (c r * Y r) + delta * steps l * c r)).
      * apply total_le. intros r I. replace (raised E l * (c r * Y r) + delta * steps l * c r)
          with (c r * (raised E l * Y r + delta * steps l)) by ring. apply times_le; [now apply C|apply H].
      * rewrite total_linear, (proj2 C).
        replace (raised E l * total n (fun r => c r * Y r) + delta * steps l * 1)
          with (1 * raised E l * total n (fun r => c r * Y r) + delta * (0 + steps l)) by ring. apply le_refl.
Qed.

Lemma mixed_ext k f g : (forall l, f l = g l) -> mixed k f = mixed k g.
Proof. revert f g. induction k; intros f g H; cbn; [apply H|]. rewrite (IHk _ (fun l => g (false :: l))), (IHk (fun l => f (true :: l)) (fun l => g (true :: l))); auto. Qed.
Lemma mixed_le k f g : (forall l, f l <= g l) -> mixed k f <= mixed k g.
Proof.
  revert f g. induction k; intros f g H; cbn; [apply H|]. apply plus_le; apply times_le; auto.
Qed.
Lemma mixed_linear k f g c d : mixed k (fun l => c * f l + d * g l) = c * mixed k f + d * mixed k g.
Proof. revert f g. induction k; intros f g; cbn; [ring|]. rewrite !IHk. ring. Qed.
Lemma mixed_const k c : mixed k (fun _ => c) = c.
Proof. induction k; cbn; [ring|]. rewrite IHk. ring. Qed.
Lemma mixed_scale k f c : mixed k (fun l => c * f l) = c * mixed k f.
Proof. revert f. induction k; intros f; cbn; [ring|]. rewrite !IHk. ring. Qed.
Lemma mixed_total k d f : total n (fun r => d r * mixed k (f r)) = mixed k (fun l => total n (fun r => d r * f r l)).
Proof.
  revert f. induction k; intros f; cbn; [reflexivity|].
  rewrite <- !IHk, <- total_linear. apply total_ext. intros. ring.
Qed.
Lemma mixed_raised k b : mixed k (raised b) = rate b k.
Proof.
  induction k; cbn; [reflexivity|]. rewrite <- IHk.
  rewrite (mixed_scale k (raised b) 1), (mixed_scale k (raised b) b). ring.
Qed.
(* Independent draws from a mixture: coins, and then draws by them. *)
Lemma draws_by_coins k c a : forall chance,
  expect (repeat (mixture c a) k) chance = mixed k (fun l => expect (picked c a l) chance).
Proof.
  induction k; intros chance; [reflexivity|]. cbn [repeat expect mixed picked map].
  rewrite (total_ext n _ (fun r => (1 - z) * (c r * mixed k (fun l => expect (picked c a l) (fun s => chance (r :: s))))
    + z * (a r * mixed k (fun l => expect (picked c a l) (fun s => chance (r :: s)))))) by (intros; rewrite IHk; unfold mixture; ring).
  rewrite total_linear, !mixed_total. reflexivity.
Qed.

Section Two.
Variables (k : nat) (c a b : nat -> R) (chance : list nat -> R).
Hypotheses (C : distribution c) (A : distribution a) (B : distribution b) (P : private chance).
Let first := expect (repeat (mixture c a) k) chance.
Let second := expect (repeat (mixture c b) k) chance.
Let common := expect (repeat c k) chance.
Let slack := mixed k steps.

Lemma picked_common coins : length coins = k -> expect (picked c c coins) chance = common.
Proof.
  intros <-. unfold common. f_equal. induction coins as [|[] l IH]; cbn; [reflexivity| |]; unfold picked in IH; now rewrite IH.
Qed.
Lemma mixed_le_of_length f g m : (forall l, length l = m -> f l <= g l) -> mixed m f <= mixed m g.
Proof.
  revert f g. induction m; intros f g H; cbn; [now apply H|].
  apply plus_le; apply times_le; auto; try (now apply le_minus); apply IHm; intros; apply H; cbn; lia.
Qed.
Lemma no_coin coins : raised E coins = 1 \/ E <= raised E coins.
Proof.
  induction coins as [|[] l IH]; cbn; [now left| |replace (1 * raised E l) with (raised E l) by ring; assumption].
  right. apply le_trans with (E * 1); [replace (E * 1) with E by ring; apply le_refl|]. apply times_le; [apply E_nonneg|apply raised_above].
Qed.
Lemma without_a_coin coins x : ~ In true coins -> picked c x coins = picked c c coins /\ raised E coins = 1 /\ steps coins = 0.
Proof.
  induction coins as [|[] l IH]; intros N; cbn; [auto|exfalso; apply N; now left|].
  destruct IH as (Q & S & T); [intros I; apply N; now right|]. unfold picked in Q. rewrite Q, S, T. repeat split; ring.
Qed.
Lemma with_a_coin coins : In true coins -> E <= raised E coins.
Proof.
  induction coins as [|[] l IH]; cbn; intros I; [contradiction| |].
  - apply le_trans with (E * 1); [replace (E * 1) with E by ring; apply le_refl|]. apply times_le; [apply E_nonneg|apply raised_above].
  - replace (1 * raised E l) with (raised E l) by ring. apply IH. destruct I as [X|I]; [discriminate|assumption].
Qed.

(* (E - 1) slack = rate - 1: with it delta is multiplied by (e^epsilon' - 1) / (e^epsilon - 1). *)
Theorem slack_is : (E - 1) * slack = rate E k - 1.
Proof.
  unfold slack. rewrite <- mixed_scale, (mixed_ext k _ (fun l => 1 * raised E l + (0 - 1) * 1)) by (intros; rewrite steps_are; ring).
  rewrite mixed_linear, mixed_const, mixed_raised. ring.
Qed.
(* epsilon' = log rate, where it is no more than the learner's own epsilon. *)
Theorem draws (below : rate E k <= E) : first <= rate E k * second + delta * slack.
Proof.
  set (r := rate E k) in *. assert (N : 0 <= r).
  { unfold r. rewrite <- mixed_raised. apply le_trans with (mixed k (fun _ => 0)); [rewrite mixed_const; apply le_refl|].
    apply mixed_le. apply raised_nonneg. }
  unfold first, second, slack. rewrite !draws_by_coins.
  apply le_trans with (mixed k (fun l => 1 * (r * expect (picked c b l) chance + common * raised E l)
    + 1 * (delta * steps l + (0 - r * common) * 1))).
  - apply mixed_le_of_length. intros l L. destruct (in_dec Bool.bool_dec true l) as [I|I].
    + pose proof (groups c a b l C A B chance P) as G. pose proof (groups c a c l C A C chance P) as H.
      rewrite (picked_common l L) in H. pose proof (with_a_coin l I) as W.
      assert (Q : 0 < raised E l) by (eapply (Rlt_le_trans laws); [apply (Rlt_0_1 laws)|apply raised_above]).
      apply (cancel (raised E l)); [assumption|].
      pose proof (le_minus _ _ (le_trans _ _ _ below W)) as D. apply le_minus in G. apply le_minus in H.
      pose proof (plus_le _ _ _ _ (nonneg_nonneg _ _ N G) (nonneg_nonneg _ _ D H)) as S. replace (0 + 0) with 0 in S by ring.
      apply minus_le. set (p := raised E l) in *. set (x := expect (picked c a l) chance) in *.
      set (y := expect (picked c b l) chance) in *. set (s := steps l) in *.
      replace (p * (1 * (r * y + common * p) + 1 * (delta * s + (0 - r * common) * 1)) - p * x)
        with (r * (p * y + delta * s - x) + (p - r) * (p * common + delta * s - x)) by ring. exact S.
    + destruct (without_a_coin l a I) as (Q & S & T). destruct (without_a_coin l b I) as (Q' & _ & _).
      rewrite Q, Q', S, T, (picked_common l L).
      replace (1 * (r * common + common * 1) + 1 * (delta * 0 + (0 - r * common) * 1)) with common by ring. apply le_refl.
  - rewrite !mixed_linear, mixed_const, mixed_raised. fold r.
    match goal with |- ?u <= ?v => replace u with v by ring end. apply le_refl.
Qed.
(* And by way of draws that both have in common; `inverse` is e^-epsilon, and epsilon' = log (rate E / rate inverse). *)
Theorem draws_by_way_of_the_common inverse : E * inverse = 1 -> 0 <= inverse ->
  rate inverse k * first <= rate E k * second + delta * (rate E k * mixed k (fun l => steps l * raised inverse l) + rate inverse k * slack).
Proof.
  intros V N.
  assert (X : first <= rate E k * common + delta * slack).
  { unfold first, slack. rewrite draws_by_coins, <- mixed_raised.
    apply le_trans with (mixed k (fun l => common * raised E l + delta * steps l)).
    - apply mixed_le_of_length. intros l L. pose proof (groups c a c l C A C chance P) as G. rewrite (picked_common l L) in G.
      replace (common * raised E l) with (raised E l * common) by ring. exact G.
    - rewrite mixed_linear. replace (common * mixed k (raised E)) with (mixed k (raised E) * common) by ring. apply le_refl. }
  assert (U : forall l, raised E l * raised inverse l = 1).
  { induction l as [|[] l IH]; cbn; [ring| |].
    - replace (E * raised E l * (inverse * raised inverse l)) with (E * inverse * (raised E l * raised inverse l)) by ring. rewrite V, IH. ring.
    - replace (1 * raised E l * (1 * raised inverse l)) with (raised E l * raised inverse l) by ring. exact IH. }
  assert (I : forall l, 0 <= raised inverse l).
  { induction l as [|[] l IH]; cbn; [apply lt_le, (Rlt_0_1 laws)|now apply nonneg_nonneg|].
    replace (1 * raised inverse l) with (raised inverse l) by ring. assumption. }
  assert (Y : rate inverse k * common <= second + delta * mixed k (fun l => steps l * raised inverse l)).
  { unfold second. rewrite draws_by_coins, <- mixed_raised.
    apply le_trans with (mixed k (fun l => 1 * expect (picked c b l) chance + delta * (steps l * raised inverse l))).
    - replace (mixed k (raised inverse) * common) with (common * mixed k (raised inverse)) by ring. rewrite <- mixed_scale.
      apply mixed_le_of_length. intros l L. pose proof (groups c c b l C C B chance P) as G. rewrite (picked_common l L) in G.
      replace (common * raised inverse l) with (raised inverse l * common) by ring.
      replace (1 * expect (picked c b l) chance + delta * (steps l * raised inverse l))
        with (raised E l * raised inverse l * expect (picked c b l) chance + delta * (steps l * raised inverse l)) by (rewrite U; ring).
      replace (raised E l * raised inverse l * expect (picked c b l) chance + delta * (steps l * raised inverse l))
        with (raised inverse l * (raised E l * expect (picked c b l) chance + delta * steps l)) by ring.
      apply times_le; [apply I|exact G].
    - rewrite mixed_linear. replace (1 * mixed k (fun l => expect (picked c b l) chance)) with (mixed k (fun l => expect (picked c b l) chance)) by ring.
      apply le_refl. }
  set (h := mixed k (fun l => steps l * raised inverse l)) in *. set (q := rate inverse k) in *. set (r := rate E k) in *.
  assert (Q : 0 <= q).
  { unfold q. rewrite <- mixed_raised. apply le_trans with (mixed k (fun _ => 0)); [rewrite mixed_const; apply le_refl|]. apply mixed_le, I. }
  assert (T : 0 <= r).
  { unfold r. rewrite <- mixed_raised. apply le_trans with (mixed k (fun _ => 0)); [rewrite mixed_const; apply le_refl|]. apply mixed_le, raised_nonneg. }
  apply le_minus in X. apply le_minus in Y. pose proof (plus_le _ _ _ _ (nonneg_nonneg _ _ Q X) (nonneg_nonneg _ _ T Y)) as S.
  replace (0 + 0) with 0 in S by ring. apply minus_le.
  replace (r * second + delta * (r * h + q * slack) - q * first)
    with (q * (r * common + delta * slack - first) + r * (second + delta * h - q * common)) by ring. exact S.
Qed.
Theorem both_slacks_are inverse : E * inverse = 1 ->
  (E - 1) * (rate E k * mixed k (fun l => steps l * raised inverse l) + rate inverse k * slack) = rate E k - rate inverse k.
Proof.
  intros V.
  assert (U : forall l, raised E l * raised inverse l = 1).
  { induction l as [|[] l IH]; cbn; [ring| |].
    - replace (E * raised E l * (inverse * raised inverse l)) with (E * inverse * (raised E l * raised inverse l)) by ring. rewrite V, IH. ring.
    - replace (1 * raised E l * (1 * raised inverse l)) with (raised E l * raised inverse l) by ring. exact IH. }
  assert (H : (E - 1) * mixed k (fun l => steps l * raised inverse l) = 1 - rate inverse k).
  { rewrite <- mixed_scale, (mixed_ext k _ (fun l => 1 * 1 + (0 - 1) * raised inverse l)).
    - rewrite mixed_linear, mixed_const, mixed_raised. ring.
    - intros l. replace ((E - 1) * (steps l * raised inverse l)) with ((E - 1) * steps l * raised inverse l) by ring.
      rewrite steps_are. replace ((raised E l - 1) * raised inverse l) with (raised E l * raised inverse l - raised inverse l) by ring.
      rewrite U. ring. }
  replace ((E - 1) * (rate E k * mixed k (fun l => steps l * raised inverse l) + rate inverse k * slack))
    with (rate E k * ((E - 1) * mixed k (fun l => steps l * raised inverse l)) + rate inverse k * ((E - 1) * slack)) by ring.
  rewrite H, slack_is. ring.
Qed.
End Two.
End Ordered.
