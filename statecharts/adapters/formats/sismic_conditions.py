"""Contract conditions: which there are, and evaluating one as sismic's ``PythonEvaluator`` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

from statecharts.errors import DefinitionError, ExecutionError, Problem

from .sismic_chart import Chart, ChartState, ChartTransition, Condition, ConditionKind
from .sismic_code import CLOCK, names_in
from .sismic_codes import SismicCode
from .sismic_python import compiled
from .sismic_text import YamlText

KINDS: Final[Mapping[ConditionKind, str]] = {
    "before": "precondition",
    "after": "postcondition",
    "always": "invariant",
}


class ContractError(ExecutionError):
    """A condition of a sismic contract does not hold.

    ``kind`` is ``precondition``, ``postcondition`` or ``invariant``; ``owner``
    says of what, in words; ``condition`` is its text, ``line`` where it
    stands, ``context`` the variables it saw.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        owner: str,
        condition: str,
        line: int | None,
        context: Mapping[str, Any],
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.owner = owner
        self.condition = condition
        self.line = line
        self.context = context


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """One condition made ready.

    ``key`` stands for its owner, which is ``state`` or a transition of it;
    ``asks`` are the names it uses that no code of the chart gives a value.
    """

    condition: Condition
    owner: str
    key: str
    state: str
    code: CodeType
    reads: frozenset[str]
    asks: frozenset[str]

    @property
    def asks_clock(self) -> bool:
        """Whether it needs to know the time."""
        return bool(self.asks & CLOCK)

    def check(self, given: dict[str, Any], variables: dict[str, Any], shown: Mapping[str, Any]) -> None:
        """Raise :class:`ContractError` unless the condition holds (or when it cannot be evaluated)."""
        try:
            if eval(self.code, given, variables):
                return
        except Exception as error:
            raise self._error(f"cannot be evaluated: {type(error).__name__}: {error}", shown) from error
        raise self._error("does not hold", shown)

    def _error(self, what: str, shown: Mapping[str, Any]) -> ContractError:
        kind, line = KINDS[self.condition.kind], self.condition.code.line
        text = self.condition.code.text
        where = f" (line {line})" if line is not None else ""
        values = ", ".join(f"{name} = {shown[name]!r}" for name in sorted(self.reads) if name in shown)
        return ContractError(
            f"the {kind} of {self.owner}{where} {what}: {text}" + (f"\n    with {values}" if values else ""),
            kind=kind,
            owner=self.owner,
            condition=text,
            line=line,
            context=dict(shown),
        )


class Old:
    """Sismic's ``__old__``: the variables as they were when the state was entered, or the transition taken."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"there was no variable {name!r} then") from None

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Clauses:
    """Every condition of a chart by owner and kind.

    Raises :class:`DefinitionError` for a condition that is not Python, or asks
    what cannot be told where it stands.
    """

    def __init__(self, chart: Chart, source: YamlText, *, has_clock: bool, shadowed: frozenset[str]) -> None:
        self._source = source
        self._has_clock = has_clock
        self._shadowed = shadowed
        self._problems: list[Problem] = []
        self._found: dict[tuple[str, ConditionKind], list[Clause]] = {}
        for state in chart.states.values():
            if not state.is_history:
                self._add(state.contract, f"state {state.name!r}", key_of(state), state.name)
            for transition in state.transitions:
                self._add(transition.contract, f"the transition {transition}", key_of(transition), state.name)
        if self._problems:
            raise DefinitionError(self._problems, chart.name)

    def of(self, owner: ChartState | ChartTransition, kind: ConditionKind) -> list[Clause]:
        """The conditions of one kind, in their order."""
        return self._found.get((key_of(owner), kind), [])

    def has(self, test: Callable[[Clause], bool]) -> bool:
        """Whether some condition of the chart passes ``test``."""
        return any(test(clause) for clauses in self._found.values() for clause in clauses)

    def keeps_old(self, owner: ChartState | ChartTransition) -> bool:
        """Whether the variables of the moment before have to be kept for ``owner``."""
        later = [*self.of(owner, "after"), *self.of(owner, "always")]
        return any("__old__" in clause.asks for clause in later)

    def _add(self, contract: tuple[Condition, ...], owner: str, key: str, state: str) -> None:
        for condition in contract:
            try:
                code = compiled(condition.code, "eval", self._source.file)
            except (SyntaxError, ValueError) as error:
                self._refuse(
                    SismicCode.SISMIC_CODE_SYNTAX,
                    condition,
                    f"A condition of {owner} is not an expression: {error}: {condition.code.text!r}.",
                )
                continue
            reads = names_in(condition.code.text, expression=True).reads
            clause = Clause(condition, owner, key, state, code, reads, reads - self._shadowed)
            self._look(clause, owner)
            self._found.setdefault((key, condition.kind), []).append(clause)

    def _look(self, clause: Clause, owner: str) -> None:
        if clause.asks_clock and not self._has_clock:
            self._refuse(
                SismicCode.SISMIC_CLOCK,
                clause.condition,
                f"A condition of {owner} asks for the time: {clause.condition.code.text!r}.",
                "Pass a clock: `with_contracts(imported, clock=lambda: milliseconds)`.",
            )

        if (
            clause.condition.kind == "before"
            and "sent" in clause.asks
            and clause.key == f"state {clause.state}"
        ):
            self._refuse(
                SismicCode.SISMIC_CONTRACT,
                clause.condition,
                f"A precondition of {owner} asks what was sent: {clause.condition.code.text!r}. What was sent on the "
                "way to a state is known when the step is over.",
                "Make it an invariant (`always`).",
            )

    def _refuse(self, code: SismicCode, condition: Condition, message: str, hint: str | None = None) -> None:
        found = self._source.problem(code, condition.code.path, message, hint, line=condition.code.line)
        self._problems.append(found)


def key_of(owner: ChartState | ChartTransition) -> str:
    """A name for the owner of a contract, unique in its chart."""
    if isinstance(owner, ChartState):
        return f"state {owner.name}"
    return f"transition {owner.source}#{owner.number}"
