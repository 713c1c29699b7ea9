"""The command `tacit`: which commands there are. Each is in its own module, with its arguments."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from tacit.cli import (
    audit,
    budget,
    certificate,
    check,
    demo,
    evaluate,
    export,
    fit,
    join,
    online,
    plan,
    predict,
    report,
    schema_commands,
    verify,
)
from tacit.cli.arguments import SpendingCommand, command
from tacit.cli.failures import INTERRUPTED, USAGE, misread, sentence, tell
from tacit.cli.fit_arguments import FitArguments
from tacit.cli.join import JoinArguments, PartyArguments, SiteArguments
from tacit.cli.plan import PlanArguments
from tacit.errors import UNSPENT, with_remark

EXIT_CODES = (
    "Exit codes: 0 success; 1 problems found under --strict; 2 invalid input; 3 insufficient budget; 4 a claim that "
    "does not hold; 130 interrupted."
)


class Commands(TyperGroup):
    """The commands. What is wrong with a command line is said as all else: in one line, or as JSON."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        whole = partial(super().main, args, prog_name, complete_var, windows_expand_args=windows_expand_args, **extra)
        if not standalone_mode:
            return whole(standalone_mode=False)
        try:
            ended = whole(standalone_mode=False)
        except typer.Abort:
            sys.exit(INTERRUPTED)
        except Exception as error:
            if not hasattr(error, "format_message"):  # which all have that are about the command line
                raise
            if type(error).__name__ == "NoArgsIsHelpError":
                typer.echo(error.format_message())
                sys.exit(USAGE)
            in_json = "--json" in (sys.argv[1:] if args is None else args)
            spends = isinstance(getattr(getattr(error, "ctx", None), "command", None), SpendingCommand)
            message = sentence(misread(error))
            tell(with_remark(message, UNSPENT) if spends else message, USAGE, as_json=in_json)
            sys.exit(USAGE)
        sys.exit(ended if isinstance(ended, int) else 0)


app = typer.Typer(
    name="tacit",
    cls=Commands,
    help="Differentially private machine learning for tabular data, with a privacy guarantee that anyone can verify.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a traceback with locals would print rows
    context_settings={"help_option_names": ["-h", "--help"]},
)
budgets = typer.Typer(
    name="budget", help="Accounts: one privacy budget for all fits on a data set.", no_args_is_help=True
)
signing = typer.Typer(name="keys", help="Keys for signing models.", no_args_is_help=True)

COLLECTED_FROM = 200_000
"""New objects from which Python looks for cycles among them."""


def version(show: bool) -> None:
    """Prints the version and ends."""
    if show:
        from importlib.metadata import version as installed

        typer.echo(f"tacit {installed('tacit')}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Differentially private machine learning for tabular data, with a privacy guarantee that anyone can verify."""


command(app, "fit", FitArguments, fit.run, spends=True)
command(app, "resume", fit.ResumeArguments, fit.resume, spends=True)
command(app, "online", online.OnlineArguments, online.run, spends=True)
command(app, "predict", predict.PredictArguments, predict.run)
command(app, "explain", report.ExplainArguments, report.explain)
command(app, "evaluate", evaluate.EvaluateArguments, evaluate.run, spends=True)
command(app, "report", report.ReportArguments, report.run)
command(app, "export", export.ExportArguments, export.run)
command(app, "verify", verify.VerifyArguments, verify.run)
command(app, "certificate", certificate.CertificateArguments, certificate.run)
command(app, "card", certificate.CardArguments, certificate.card)
command(app, "dossier", certificate.DossierArguments, certificate.dossier)
command(app, "erasure", certificate.ErasureArguments, certificate.erasure)
command(app, "party", PartyArguments, join.party, spends=True)
command(app, "site", SiteArguments, join.site, spends=True)
command(app, "join", JoinArguments, join.join, spends=True)
command(app, "plan", PlanArguments, plan.run, spends=True)
command(app, "audit", audit.AuditArguments, audit.run, spends=True)
command(app, "check", check.CheckArguments, check.run)
command(app, "demo", demo.DemoArguments, demo.run)
command(budgets, "create", budget.CreateArguments, budget.create)
command(budgets, "show", budget.ShowArguments, budget.show)
command(budgets, "list", budget.ListArguments, budget.list_accounts)
command(budgets, "export", budget.ExportArguments, budget.export)
command(signing, "new", certificate.KeyArguments, certificate.new_key_pair)
app.add_typer(budgets)
app.add_typer(signing)
app.add_typer(schema_commands.app, name="schema")


class Unread(io.FileIO):
    """A standard stream that goes on to nowhere where it cannot be written: that stops no command halfway.

    Attributes:
        fault: why it could not (a full disk); None as long as it could, or if its reader has gone (``| head``).
    """

    fault: OSError | None = None

    def write(self, data: Any) -> int:
        """Writes the bytes; see the class."""
        try:
            return super().write(data) or 0
        except OSError as error:
            self.fault = None if isinstance(error, BrokenPipeError) else error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes


def text_stream(stream: TextIO) -> TextIO:
    """A standard stream as a command writes it: no character that a terminal lacks, and no reader, stops it."""
    if not isinstance(stream, io.TextIOWrapper) or stream.name == os.devnull:
        return stream
    stream.flush()
    raw, lines = Unread(stream.fileno(), "wb", closefd=False), stream.line_buffering
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, "backslashreplace", line_buffering=lines)


def open_streams() -> None:
    """Opens what the caller closed (``>&-``): a model file must not become the standard output of anything."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as long as the process
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


def main() -> None:
    """The entry point: runs the command and ends the process at once.

    A command is short. Looking for cycles among the objects that modules are made of, and taking all of them down at
    the end, would take a fifth of a fit of a small table; what must outlive the process is on disk by then.
    """
    gc.set_threshold(COLLECTED_FROM)
    open_streams()
    sys.stdout, sys.stderr = text_stream(sys.stdout), text_stream(sys.stderr)
    try:
        app()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    else:
        code = 0
    with contextlib.suppress(ValueError):  # a stream that was closed
        sys.stdout.flush()
    fault = getattr(getattr(getattr(sys.stdout, "buffer", None), "raw", None), "fault", None)
    if fault is not None:
        tell(f"standard output: {fault.strerror}; what the command did stands.")
        code = code or USAGE
    with contextlib.suppress(ValueError):
        sys.stderr.flush()
    os._exit(code)
