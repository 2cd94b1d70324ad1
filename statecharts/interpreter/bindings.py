"""What entering and leaving a state consists of, in each rule book: from declarations to operations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..actions import Action
from ..errors import ExecutionError
from ..executable_content import (
    CONTENT,
    AssignLocation,
    Block,
    CancelSend,
    Choice,
    ForEach,
    LogValue,
    Payload,
    RaiseNow,
    Script,
    Send,
)
from ..nodes import StateNode, Transition
from ..values import UNDEFINED, freeze
from .acting import CancelOperation, EnqueueOperation, RaiseOperation, SendOperation, SettleSends
from .children import SpawnOperation, StopOperation
from .compiler import value_getter
from .content import (
    AssignOperation,
    BlockOperation,
    CancelSendOperation,
    ChoiceOperation,
    ForEachOperation,
    LogValueOperation,
    RaiseNowOperation,
    ScriptOperation,
)
from .getters import NO_VALUE, Getter, Known
from .invocation import CancelInvocations, Finalizers, finalizer
from .operations import (
    CompleteMachine,
    Operation,
    RaiseDone,
)
from .residence import DoneData, EnterState, InitializeData, LeaveState, OutputOfSession
from .sending import SendMessage

if TYPE_CHECKING:
    from .program import Program


class Bindings(ABC):
    """Operations of one program's states and transitions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._made: dict[Any, tuple[Operation, ...]] = {}

    def leaving(self, node: StateNode) -> tuple[Operation, ...]:
        """:meth:`leave`, made once for all plans. As many as there are nodes, so not counted against the memo."""
        made = self._made.get(node)
        if made is None:
            made = self._keep(node, self.leave(node))
        return made

    def entering(
        self, node: StateNode, by_default: bool, history: StateNode | None
    ) -> tuple[Operation, ...]:
        """:meth:`enter`, made once for all plans."""
        key = (node, by_default, history)
        made = self._made.get(key)
        if made is None:
            made = self._keep(key, self.enter(node, by_default, history))
        return made

    def taking(self, transition: Transition) -> tuple[Operation, ...]:
        """:meth:`transition`, made once for all plans."""
        made = self._made.get(transition)
        if made is None:
            made = self._keep(transition, self.transition(transition))
        return made

    def _keep(self, key: Any, operations: list[Operation]) -> tuple[Operation, ...]:
        made = tuple(operations)
        if self.program.memo.keeps:
            self._made[key] = made
        return made

    def actions(self, actions: Sequence[Action], node: StateNode) -> list[Operation]:
        """Operations for a list of actions, labelled with the state they stand in."""
        operations = []
        for action in actions:
            operation = self.program.compile_action(action)
            operation.state = node.id
            operations.append(operation)
        return operations

    def transition(self, transition: Transition) -> list[Operation]:
        """A transition's own actions."""
        return self.actions(transition.actions, transition.source)

    @abstractmethod
    def leave(self, node: StateNode) -> list[Operation]:
        """Exit actions, then the end of what the state had running."""

    @abstractmethod
    def enter(self, node: StateNode, by_default: bool, history: StateNode | None) -> list[Operation]:
        """Entry actions and what follows from them; ``history``: whose default content runs."""

    @abstractmethod
    def done(self, parent: StateNode, final: StateNode | None) -> Operation:
        """The done event of ``parent``, with the output of its final child."""

    @abstractmethod
    def complete(self, final: StateNode) -> list[Operation]:
        """The machine is complete by entering ``final``: what happens at that moment."""

    @abstractmethod
    def end(self, nodes: Sequence[StateNode]) -> list[Operation]:
        """A complete machine leaves its states, in this order."""


class XStateBindings(Bindings):
    """XState's."""

    def exit_actions(self, node: StateNode) -> list[Operation]:
        """A state's own exit actions, then the cancels of its ``after`` timers."""
        operations = self.actions(node.exit, node)
        for delayed in node.delayed:
            operations.append(CancelOperation("after", Known(delayed.event_type), NO_VALUE))
        return operations

    def leave(self, node: StateNode) -> list[Operation]:
        operations = self.exit_actions(node)
        for invoke in node.invokes:
            operations.append(StopOperation(f"invoke {invoke.id!r}", Known(invoke.id), NO_VALUE))
        return operations

    def enter(self, node: StateNode, by_default: bool, history: StateNode | None) -> list[Operation]:
        """Entry actions, ``after`` timers, invokes, then ``initial`` actions if entered by default."""
        operations = self.actions(node.entry, node)
        for delayed in node.delayed:
            event = freeze({"type": delayed.event_type})
            identity = Known(delayed.event_type)
            operations.append(RaiseOperation("after", Known(event), identity, Known(delayed.delay), NO_VALUE))
        operations.extend(self._invoke(invoke) for invoke in node.invokes)
        if by_default and node.initial is not None:
            if node.initial.error is not None:
                raise ExecutionError(node.initial.error)
            operations.extend(self.actions(node.initial.actions, node))
        for operation in operations:
            operation.state = node.id
        ids = tuple(invoke.id for invoke in node.invokes)
        return with_deferred_targets(operations, ids)

    def _invoke(self, invoke: Any) -> Operation:
        machine = self.program.machine
        given = machine.implementations.invoke_inputs.get(invoke.id, invoke.input)
        label = f"input of invoke {invoke.id!r}"
        return SpawnOperation(
            label,
            invoke.src,
            Known(invoke.id),
            invoke.system_id,
            value_getter(given, label, machine.is_pure),
            invoke.sync_snapshot,
            NO_VALUE,
        )

    def done(self, parent: StateNode, final: StateNode | None) -> Operation:
        return RaiseDone(parent.id, None if final is None else self._output(final))

    def complete(self, final: StateNode) -> list[Operation]:
        inner = self._output(final) if final.parent is not None else None
        return [CompleteMachine(final.id, inner, self._output(self.program.definition.root))]

    def end(self, nodes: Sequence[StateNode]) -> list[Operation]:
        return [operation for node in nodes for operation in self.exit_actions(node)]

    def _output(self, node: StateNode) -> Getter | None:
        """How a final state's (or the root's) output is computed; ``None`` without one."""
        machine = self.program.machine
        output = machine.implementations.outputs.get(node.id, node.output)
        if output is UNDEFINED:
            return None
        return value_getter(output, f"output of {node.id!r}", machine.is_pure)


class ScxmlBindings(Bindings):
    """SCXML's (appendix D ``enterStates``, ``exitStates``, ``exitInterpreter``)."""

    def leave(self, node: StateNode) -> list[Operation]:
        operations = self.actions(node.exit, node)
        if node.invocations:
            operations.append(CancelInvocations(node))
        operations.append(LeaveState(node))
        return operations

    def enter(self, node: StateNode, by_default: bool, history: StateNode | None) -> list[Operation]:
        scxml = self.program.definition.scxml
        assert scxml is not None
        operations: list[Operation] = [EnterState(node)]
        if scxml.late_binding and node.data and node.parent is not None:  # those of <scxml> are bound already
            operations.append(InitializeData(node))
        operations.extend(self.actions(node.entry, node))
        if by_default and node.initial is not None:
            operations.extend(self.actions(node.initial.actions, node))
        if history is not None:
            operations.extend(self.actions(history.history_actions, node))
        return operations

    def done(self, parent: StateNode, final: StateNode | None) -> Operation:
        payload = None if final is None else final.output
        return DoneData(parent, payload if isinstance(payload, Payload) else None, final)

    def complete(self, final: StateNode) -> list[Operation]:
        return []

    def end(self, nodes: Sequence[StateNode]) -> list[Operation]:
        """Leave all; the data of the top-level final state are computed when its turn has come."""
        operations: list[Operation] = []
        root = self.program.definition.root
        for node in nodes:
            operations.extend(self.leave(node))
            if node.type == "final" and node.parent is root:
                operations.append(OutputOfSession(node))
        return operations

    # ---------------------------------------------------- executable content

    def compile(self, action: Any) -> Operation:
        """The operation behind an action of executable content."""
        if isinstance(action, Block):
            return BlockOperation(self._inner(action.actions), action.pointer)
        if isinstance(action, Choice):
            branches = [(branch, self._inner(branch.actions)) for branch in action.branches]
            return ChoiceOperation(branches, action.pointer)
        if isinstance(action, ForEach):
            return ForEachOperation(action, self._inner(action.actions))
        if isinstance(action, RaiseNow):
            return RaiseNowOperation(action)
        if isinstance(action, Send):
            return SendMessage(action)
        if isinstance(action, CancelSend):
            return CancelSendOperation(action)
        if isinstance(action, LogValue):
            return LogValueOperation(action)
        if isinstance(action, AssignLocation):
            return AssignOperation(action)
        assert isinstance(action, Script)
        return ScriptOperation(action)

    def _inner(self, actions: Sequence[Any]) -> list[Operation]:
        return [self.program.compile_action(action) for action in actions]

    def finalizers(self) -> Finalizers:
        """What events from outside set off."""
        nodes = self.program.definition.nodes
        found: dict[int, list[Any]] = {}
        for node in nodes:
            for invocation in node.invocations:
                block = None if invocation.finalize is None else self.compile(invocation.finalize)
                assert block is None or isinstance(block, BlockOperation)
                found.setdefault(node.index, []).append((invocation, finalizer(invocation, block)))
        return Finalizers(found, nodes)


def is_content(action: Any) -> bool:
    """Whether an action is SCXML's executable content."""
    return isinstance(action, CONTENT)


def with_deferred_targets(operations: list[Operation], ids: tuple[str, ...]) -> list[Operation]:
    """Let sends in this list name children that the same list spawns."""
    for operation in operations:
        if isinstance(operation, (SendOperation, EnqueueOperation)):
            operation.deferred_ids = ids
    return [*operations, SettleSends("settle")] if ids else operations
