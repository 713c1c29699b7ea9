(* Units of several rows (reference.py: unit_moves, unit_range).  A unit of k rows comes, goes or is replaced in k steps of one row.
   `answer t` is what an algorithm says after t steps, coordinate by coordinate, with all that was released before held
   fixed; a unit of fewer rows stands still in the steps that are left.  `weight` is 1, or the precision of the release
   that a coordinate belongs to. *)
From Coq Require Import ZArith List Lia Arith Bool.
From Tacit Require Import finite_sums.
Open Scope Z_scope.

Section Chain.
Variable answer : nat -> nat -> Z.
Variable weight : nat -> Z.
Variables (n rows : nat) (step : Z).
Hypothesis weight_nonneg : forall c, 0 <= weight c.
Definition moved (t c : nat) : Z := answer (S t) c - answer t c.
Definition unit_moved (t c : nat) : Z := answer t c - answer 0%nat c.

(* Lengths add up: the sensitivity of one row times the number of rows. *)
Theorem l1 : (forall t, (t < rows)%nat -> sum n (fun c => weight c * Z.abs (moved t c)) <= step) ->
  sum n (fun c => weight c * Z.abs (unit_moved rows c)) <= Z.of_nat rows * step.
Proof.
  induction rows as [|k IH]; intros H.
  - rewrite sum_of_zeros; [cbn; lia|]. intros c. unfold unit_moved. now rewrite Z.sub_diag, Z.mul_0_r.
  - pose proof (IH ltac:(intros; apply H; lia)) as A. pose proof (H k ltac:(lia)) as B.
    eapply Z.le_trans with (sum n (fun c => weight c * Z.abs (unit_moved k c)) + sum n (fun c => weight c * Z.abs (moved k c))); [|lia].
    rewrite <- sum_add. apply sum_le. intros c _. rewrite <- Z.mul_add_distr_l.
    apply Z.mul_le_mono_nonneg_l; [apply weight_nonneg|]. unfold unit_moved, moved. lia.
Qed.

(* Squared lengths: times the square of the number of rows. *)
Theorem l2 : (forall t, (t < rows)%nat -> sum n (fun c => weight c * square (moved t c)) <= step) ->
  sum n (fun c => weight c * square (unit_moved rows c)) <= square (Z.of_nat rows) * step.
Proof.
  induction rows as [|k IH]; intros H.
  - rewrite sum_of_zeros; [cbn; lia|]. intros c. unfold unit_moved, square. rewrite Z.sub_diag. ring.
  - pose proof (IH ltac:(intros; apply H; lia)) as A. pose proof (H k ltac:(lia)) as B.
    set (j := Z.of_nat k) in *. assert (J : 0 <= j) by lia.
    destruct (Z.eq_dec j 0) as [Z0|NZ].
    + assert (k = 0%nat) by lia. subst k. rewrite (sum_ext n _ (fun c => weight c * square (moved 0 c))) by reflexivity.
      replace (square (Z.of_nat 1)) with 1 by reflexivity. lia.
    (* a unit of j rows and one row more: 2 j (a b) <= a^2 + j^2 b^2, and so j (a + b)^2 <= (j + 1) (a^2 + j b^2) *)
    + apply (Zmult_le_reg_r _ _ j); [lia|].
      eapply Z.le_trans with ((j + 1) * sum n (fun c => weight c * square (unit_moved k c))
                              + j * (j + 1) * sum n (fun c => weight c * square (moved k c))).
      * rewrite <- sum_scale_right, <- !sum_scale, <- sum_add. apply sum_le. intros c _.
        replace (unit_moved (S k) c) with (unit_moved k c + moved k c) by (unfold unit_moved, moved; ring).
        pose proof (Z.mul_nonneg_nonneg _ _ (weight_nonneg c) (square_nonneg (unit_moved k c - j * moved k c))) as P.
        unfold square in *. lia.
      * replace (square (Z.of_nat (S k)) * step * j) with ((j + 1) * (square j * step) + j * (j + 1) * step)
          by (unfold square, j; rewrite Nat2Z.inj_succ; unfold Z.succ; ring).
        apply Z.add_le_mono; apply Z.mul_le_mono_nonneg_l; try assumption; nia.
Qed.

(* Scores of candidates: how far two move apart. *)
Theorem range : (forall t i j, (t < rows)%nat -> moved t i - moved t j <= step) ->
  forall i j, unit_moved rows i - unit_moved rows j <= Z.of_nat rows * step.
Proof.
  intros H i j. induction rows as [|k IH]; [unfold unit_moved; lia|].
  pose proof (IH ltac:(intros; apply H; lia)). pose proof (H k i j ltac:(lia)). unfold unit_moved, moved in *. lia.
Qed.
End Chain.
