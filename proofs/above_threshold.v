(* Above-threshold on running counts (reference.py: first_above).  Counts only grow, so a row that is added raises every
   count by 0 or 1, and never by less later on.  Moving the noise of the threshold and of one query turns a run on one
   table into a run on the other with the same answer: at most one step of either when the row is added, and one step of
   the query's noise alone when it is removed. *)
From Coq Require Import ZArith List Lia Arith Bool.
Open Scope Z_scope.

Section Above.
Variables (threshold : Z) (count count' : nat -> Z).
(* The answer of a run is t: below the threshold before t, and above it at t. *)
Definition first_above (c : nat -> Z) (rho : Z) (noise : nat -> Z) (t : nat) : Prop :=
  (forall i, (i < t)%nat -> c i + noise i < threshold + rho) /\ threshold + rho <= c t + noise t.
Definition shifted (noise : nat -> Z) (t : nat) (by_ : Z) (i : nat) : Z := if Nat.eqb i t then noise i + by_ else noise i.
Hypothesis running : forall i, 0 <= count' i - count i <= 1.

Lemma shifted_before noise t s i : (i < t)%nat -> shifted noise t s i = noise i.
Proof. intros H. unfold shifted. destruct (Nat.eqb_spec i t); lia. Qed.
Lemma shifted_at noise t s : shifted noise t s t = noise t + s.
Proof. unfold shifted. now rewrite Nat.eqb_refl. Qed.

Theorem adding_a_row rho noise t : first_above count rho noise t ->
  first_above count' (rho + 1) (shifted noise t (1 - (count' t - count t))) t /\ 0 <= 1 - (count' t - count t) <= 1.
Proof.
  intros [B A]. pose proof (running t). repeat split; try lia.
  - intros i H'. rewrite shifted_before by assumption. pose proof (B i H'). pose proof (running i). lia.
  - rewrite shifted_at. lia.
Qed.
Theorem removing_a_row rho noise t : first_above count' rho noise t ->
  first_above count rho (shifted noise t (count' t - count t)) t /\ 0 <= count' t - count t <= 1.
Proof.
  intros [B A]. pose proof (running t). repeat split; try lia.
  - intros i H'. rewrite shifted_before by assumption. pose proof (B i H'). pose proof (running i). lia.
  - rewrite shifted_at. lia.
Qed.
(* The shifts are one to one: no two noises become one. *)
Theorem one_to_one noise noise' t s i : shifted noise t s i = shifted noise' t s i -> noise i = noise' i.
Proof. unfold shifted. destruct (Nat.eqb i t); lia. Qed.
(* At most one answer. *)
Theorem one_answer c rho noise t u : first_above c rho noise t -> first_above c rho noise u -> t = u.
Proof.
  intros [B A] [D C]. destruct (Nat.lt_trichotomy t u) as [L|[E|L]]; [|assumption|].
  - pose proof (D t L). lia.
  - pose proof (B u L). lia.
Qed.
End Above.
