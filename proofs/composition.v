(* The composition step that adds charges (reference.py: filtered).  Charges are whole numbers of one unit. *)
From Coq Require Import ZArith List Lia Arith Bool.
Import ListNotations. Open Scope Z_scope.

(* A filter grants a charge only where the pool still covers it; the next charge may depend on all that went before. *)
Section Filter.
Variable total : Z.
Variable next : list Z -> Z.
Hypothesis total_nonneg : 0 <= total.
Hypothesis charges_nonneg : forall past, 0 <= next past.
Definition spent (past : list Z) : Z := fold_right Z.add 0 past.
Definition step (past : list Z) : list Z := if spent past + next past <=? total then next past :: past else past.
Fixpoint run (steps : nat) : list Z := match steps with O => [] | S n => step (run n) end.
Theorem never_beyond steps : 0 <= spent (run steps) <= total.
Proof.
  induction steps; cbn [run]; [cbn; lia|]. unfold step. destruct (Z.leb_spec (spent (run steps) + next (run steps)) total).
  - cbn [spent fold_right]. fold (spent (run steps)). pose proof (charges_nonneg (run steps)). lia.
  - assumption.
Qed.
Theorem never_falls steps : spent (run steps) <= spent (run (S steps)).
Proof.
  cbn [run]. unfold step. destruct (Z.leb_spec (spent (run steps) + next (run steps)) total); [|lia].
  cbn [spent fold_right]. fold (spent (run steps)). pose proof (charges_nonneg (run steps)). lia.
Qed.
End Filter.

(* Charges in any order, and gathered or not, are one sum. *)
Theorem spent_app a b : spent (a ++ b) = spent a + spent b.
Proof. induction a as [|c rest IH]; [reflexivity|]. cbn. unfold spent in IH. rewrite IH. unfold spent. lia. Qed.
Theorem spent_repeated charge times : spent (repeat charge times) = Z.of_nat times * charge.
Proof. induction times as [|n IH]; [reflexivity|]. cbn -[Z.of_nat]. unfold spent in IH. rewrite IH. lia. Qed.

(* Pure privacy along a transcript: in every step the chance p of the answer, given the past, is at most exp(charge)
   times that on the neighbour, where exp(1) is up / down.  Chances and factors multiply, charges add up. *)
Section Transcript.
Variables up down : Z.
Hypothesis positive : 0 < down.
Hypothesis above_one : down <= up.
Record answer := { here : Z; there : Z; charge : Z }.
Definition lawful (a : answer) : Prop :=
  0 <= here a /\ 0 <= there a /\ 0 <= charge a /\ here a * down ^ charge a <= there a * up ^ charge a.
Definition chance (which : answer -> Z) (t : list answer) : Z := fold_right (fun a s => which a * s) 1 t.
Definition charges (t : list answer) : Z := fold_right (fun a s => charge a + s) 0 t.
Theorem charges_add t : Forall lawful t ->
  0 <= charges t /\ 0 <= chance here t /\ 0 <= chance there t /\
  chance here t * down ^ charges t <= chance there t * up ^ charges t.
Proof.
  induction 1 as [|a rest L _ IH].
  - cbn. lia.
  - destruct L as (P & Q & C & R). destruct IH as (C' & P' & Q' & R').
    cbn [charges chance fold_right]. fold (charges rest). fold (chance here rest). fold (chance there rest).
    repeat split; try lia; try (apply Z.mul_nonneg_nonneg; assumption).
    rewrite !Z.pow_add_r by lia.
    replace (here a * chance here rest * (down ^ charge a * down ^ charges rest))
      with ((here a * down ^ charge a) * (chance here rest * down ^ charges rest)) by ring.
    replace (there a * chance there rest * (up ^ charge a * up ^ charges rest))
      with ((there a * up ^ charge a) * (chance there rest * up ^ charges rest)) by ring.
    apply Z.mul_le_mono_nonneg; try assumption; apply Z.mul_nonneg_nonneg; try assumption; apply Z.pow_nonneg; lia.
Qed.
End Transcript.

(* Gaussian releases: the exponents of the likelihood ratio, 2 x v - v^2 for noise x and shift v, each times its
   precision, are that of one release whose squared shift is the sum: precisions add up, coordinate by coordinate. *)
Definition exponent (p x v : Z) : Z := p * (x * x) - p * ((x - v) * (x - v)).
Record release := { precision : Z; noise : Z; shift : Z }.
Definition together (t : list release) : Z := fold_right (fun r s => exponent (precision r) (noise r) (shift r) + s) 0 t.
Definition cross (t : list release) : Z := fold_right (fun r s => precision r * (noise r * shift r) + s) 0 t.
Definition squared_shift (t : list release) : Z := fold_right (fun r s => precision r * (shift r * shift r) + s) 0 t.
Theorem precisions_add t : together t = 2 * cross t - squared_shift t.
Proof.
  induction t as [|r rest IH]; [reflexivity|].
  change (together (r :: rest)) with (exponent (precision r) (noise r) (shift r) + together rest).
  change (cross (r :: rest)) with (precision r * (noise r * shift r) + cross rest).
  change (squared_shift (r :: rest)) with (precision r * (shift r * shift r) + squared_shift rest).
  rewrite IH. unfold exponent. ring.
Qed.
