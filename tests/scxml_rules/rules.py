"""What no public suite protects, as small charts.

Every value is derived by hand from the Recommendation's text; the clause is
named. ``tests/scxml_differential`` lets SCION say the configurations too;
where they are others, ``scion`` says why.
"""

from __future__ import annotations

from typing import NamedTuple

from session_documents import document, entry_exit, log


class Step(NamedTuple):
    """One event (``""``: the start), the active leaves after it, and what was logged meanwhile."""

    event: str
    leaves: tuple[str, ...]
    logs: tuple[str, ...] = ()


class Rule(NamedTuple):
    """A chart, where the Recommendation says what it does, and what that is."""

    name: str
    clause: str
    text: str
    steps: tuple[Step, ...]
    scion: str | None = None


def rule(name: str, clause: str, body: str, *steps: Step, attributes: str = "", scion: str | None = None) -> Rule:
    return Rule(name, clause, document(body, attributes), steps, scion)


SELECTION = (
    rule(
        "a parallel's own transition is asked for the region without an answer",
        "App. D selectTransitions: each atomic state walks up to the root for itself",
        f"""<parallel id="p">
              <transition event="e" target="out"/>
              <state id="r1"><state id="a"><transition event="e">{log('a')}</transition></state></state>
              <state id="r2"><state id="b"/></state>
            </parallel>
            <state id="out"/>""",
        Step("", ("a", "b")),
        # a answers for itself (no exit set, so no conflict); b has no answer and asks p
        Step("e", ("out",), ("a",)),
    ),
    rule(
        "both regions ask the same ancestor, which is taken once",
        "App. D: enabledTransitions is an ordered set",
        """<datamodel><data id="n" expr="0"/></datamodel>
            <state id="s"><transition event="e"><assign location="n" expr="n + 1"/><log expr="'n=' + n"/></transition>
              <parallel id="p"><state id="a"/><state id="b"/></parallel>
            </state>""",
        Step("", ("a", "b")),
        Step("e", ("a", "b"), ("n=1",)),
    ),
    rule(
        "a region's inner answer does not keep the other region from the outer one",
        "App. D selectTransitions; removeConflictingTransitions: the outer source loses to the inner one only on overlap",
        """<state id="s"><transition event="e" target="t"/>
             <parallel id="p">
               <state id="r1"><state id="a"><transition event="e" target="a2"/></state><state id="a2"/></state>
               <state id="r2"><state id="b"/></state>
             </parallel>
           </state>
           <state id="t"/>""",
        Step("", ("a", "b")),
        # a -> a2 was selected first; s -> t exits a too and its source is an ancestor, so it is preempted
        Step("e", ("a2", "b")),
    ),
    rule(
        "in a conflict the first leaf in document order wins",
        "App. D removeConflictingTransitions",
        """<parallel id="p">
             <state id="r1"><state id="a"><transition event="e" target="x"/></state></state>
             <state id="r2"><state id="b"><transition event="e" target="y"/></state></state>
           </parallel>
           <state id="x"/><state id="y"/>""",
        Step("", ("a", "b")),
        Step("e", ("x",)),
    ),
    rule(
        "a deeper source preempts an ancestor's transition that an earlier leaf selected",
        "App. D removeConflictingTransitions: a descendant's transition removes the ancestor's",
        """<state id="s"><transition event="e" target="t"/>
             <parallel id="p">
               <state id="r1"><state id="a"/></state>
               <state id="r2"><state id="b"><transition event="e" target="b2"/></state><state id="b2"/></state>
             </parallel>
           </state>
           <state id="t"/>""",
        Step("", ("a", "b")),
        Step("e", ("a", "b2")),
    ),
    rule(
        "within a state the first transition in document order that matches is taken",
        "3.13: transitions of a state are tried in document order, whatever their descriptors",
        """<state id="s"><transition event="*" target="any"/><transition event="e" target="exact"/></state>
           <state id="any"/><state id="exact"/>""",
        Step("", ("s",)),
        Step("e", ("any",)),
    ),
)

EVENTLESS = (
    rule(
        "eventless transitions are selected in document order, not in the order of entry",
        "App. D selectEventlessTransitions: atomic states in document order",
        f"""<datamodel><data id="go" expr="false"/></datamodel>
            <parallel id="p">
              <state id="r1" initial="a0">
                <state id="a0"><transition event="e1" target="a"/></state>
                <state id="a"><transition cond="go" target="done1">{log('first')}</transition></state>
              </state>
              <state id="r2" initial="b0">
                <state id="b0"><transition event="e2" target="b"/></state>
                <state id="b"><transition cond="go" target="done2">{log('second')}</transition></state>
              </state>
              <state id="r3"><transition event="go"><assign location="go" expr="true"/></transition></state>
            </parallel>
            <state id="done1"/><state id="done2"/>""",
        Step("", ("a0", "b0", "r3")),
        Step("e2", ("a0", "b", "r3")),
        Step("e1", ("a", "b", "r3")),
        # b was entered before a; document order lets a answer first, and it wins the conflict
        Step("go", ("done1",), ("first",)),
    ),
    rule(
        "an eventless transition that changes nothing is taken again",
        "App. D mainEventLoop: until no transition is enabled",
        """<datamodel><data id="n" expr="0"/></datamodel>
           <state id="s"><transition cond="n &lt; 3"><assign location="n" expr="n + 1"/><log expr="'n=' + n"/></transition>
             <transition event="e" target="t"/></state>
           <state id="t"/>""",
        Step("", ("s",), ("n=1", "n=2", "n=3")),
    ),
    rule(
        "eventless transitions come before raised events",
        "App. D mainEventLoop",
        """<state id="s"><onentry><raise event="i"/></onentry><transition event="i" target="late"/>
             <transition target="soon"/></state>
           <state id="soon"><transition event="i" target="both"/></state><state id="late"/><state id="both"/>""",
        Step("", ("both",)),
    ),
)

DOMAIN = (
    rule(
        "a transition between regions leaves and enters all of them",
        "App. D getTransitionDomain: findLCCA looks at compound states only",
        f"""<state id="s">
              <parallel id="p">{entry_exit('p')}
                <state id="r1" initial="a"><state id="a"><transition event="e" target="b2"/></state><state id="a2"/></state>
                <state id="r2" initial="b"><state id="b"><transition event="go" target="b3"/></state><state id="b2"/>
                  <state id="b3"/></state>
                <state id="r3" initial="c"><state id="c"><transition event="go" target="c2"/></state><state id="c2"/></state>
              </parallel>
            </state>""",
        Step("", ("a", "b", "c"), ("+p",)),
        Step("go", ("a", "b3", "c2")),
        # the domain is s: p goes, with all its regions, and r3 starts anew
        Step("e", ("a", "b2", "c"), ("-p", "+p")),
    ),
    rule(
        "the domain of a transition between regions is outside every parallel state around them",
        "App. D findLCCA",
        """<state id="s">
             <parallel id="outer">
               <parallel id="p">
                 <state id="r1"><state id="a"><transition event="e" target="b2"/></state></state>
                 <state id="r2" initial="b"><state id="b"/><state id="b2"/></state>
               </parallel>
               <state id="r3" initial="c"><state id="c"><transition event="go" target="c2"/></state><state id="c2"/></state>
             </parallel>
           </state>""",
        Step("", ("a", "b", "c")),
        Step("go", ("a", "b", "c2")),
        Step("e", ("a", "b2", "c")),  # r3 was left with everything else
        scion="takes the parallel state p for the domain, so r3 stays",
    ),
    rule(
        "type internal needs a compound source",
        "3.13 and App. D getTransitionDomain",
        f"""<state id="s">
              <parallel id="p">{entry_exit('p')}<transition event="e" type="internal" target="a2"/>
                <state id="r1" initial="a"><state id="a"/><state id="a2"/></state>
                <state id="r2" initial="b"><state id="b"><transition event="go" target="b2"/></state><state id="b2"/></state>
              </parallel>
            </state>""",
        Step("", ("a", "b"), ("+p",)),
        Step("go", ("a", "b2")),
        Step("e", ("a2", "b"), ("-p", "+p")),
    ),
    rule(
        "an internal transition of a compound state keeps it",
        "3.13",
        f"""<state id="s" initial="a">{entry_exit('s')}<transition event="e" type="internal" target="b"/>
              <state id="a">{entry_exit('a')}</state><state id="b">{entry_exit('b')}</state></state>""",
        Step("", ("a",), ("+s", "+a")),
        Step("e", ("b",), ("-a", "+b")),
    ),
    rule(
        "an internal transition to its own source is external",
        "3.13: internal only when every target is a proper descendant",
        f"""<state id="s" initial="a">{entry_exit('s')}<transition event="e" type="internal" target="s"/>
              <state id="a"/></state>""",
        Step("", ("a",), ("+s",)),
        Step("e", ("a",), ("-s", "+s")),
    ),
    rule(
        "a transition without target leaves nothing",
        "App. D computeExitSet",
        f"""<state id="s" initial="a">{entry_exit('s')}<transition event="e">{log('t')}</transition>
              <state id="a">{entry_exit('a')}</state></state>""",
        Step("", ("a",), ("+s", "+a")),
        Step("e", ("a",), ("t",)),
    ),
    rule(
        "the content of initial runs for every compound entered by default",
        "App. D addDescendantStatesToEnter, statesForDefaultEntry",
        f"""<state id="z"><transition event="e" target="b"/></state>
            <parallel id="p">
              <state id="r1"><initial><transition target="a">{log('i1')}</transition></initial><state id="a"/></state>
              <state id="r2"><initial><transition target="c">{log('i2')}</transition></initial>
                <state id="b"/><state id="c"/></state>
            </parallel>""",
        Step("", ("z",)),
        # r1 is entered by default as the region nobody named; r2 is not entered by default
        Step("e", ("a", "b"), ("i1",)),
    ),
    rule(
        "entry content, then initial content, then history content, before the children's",
        "App. D enterStates",
        f"""<state id="z"><transition event="e" target="h"/></state>
            <state id="s">{entry_exit('s')}
              <history id="h"><transition target="a">{log('h')}</transition></history>
              <state id="a">{entry_exit('a')}<initial><transition target="b">{log('i')}</transition></initial>
                <state id="b">{entry_exit('b')}</state></state>
            </state>""",
        Step("", ("z",)),
        Step("e", ("b",), ("+s", "h", "+a", "i", "+b")),
    ),
    rule(
        "a parallel state inside a parallel state has its done event; what is around it has none",
        "App. D enterStates: only the grandparent of a final state is asked",
        f"""<parallel id="outer">
              <transition event="done.state.outer">{log('outer')}</transition>
              <transition event="done.state.inner">{log('inner')}</transition>
              <parallel id="inner"><state id="r1"><final id="f1"/></state><state id="r2"><final id="f2"/></state></parallel>
            </parallel>""",
        Step("", ("f1", "f2"), ("inner",)),
    ),
    rule(
        "In() sees states leave and enter one by one",
        "App. D exitStates, enterStates: the configuration changes state by state",
        """<state id="a"><onexit><log expr="'a ' + In('a') + In('b')"/></onexit>
             <transition event="e" target="b"><log expr="'t ' + In('a') + In('b')"/></transition></state>
           <state id="b"><onentry><log expr="'b ' + In('a') + In('b') + In('c')"/></onentry>
             <state id="c"/></state>""",
        Step("", ("a",)),
        Step("e", ("c",), ("a truefalse", "t falsefalse", "b falsetruefalse")),
    ),
)

HISTORY = (
    rule(
        "a history state may lead to another one",
        "App. D addDescendantStatesToEnter",
        """<state id="z"><transition event="e" target="h"/></state>
           <state id="s"><history id="h" type="deep"><transition target="g"/></history>
             <state id="b"/><state id="a" initial="a1"><history id="g"><transition target="a2"/></history>
               <state id="a1"/><state id="a2"/></state></state>""",
        Step("", ("z",)),
        Step("e", ("a2",)),
    ),
    rule(
        "history is recorded before exit handlers run, and its default content only without a record",
        "App. D exitStates; enterStates",
        f"""<state id="s" initial="a">
              <history id="h"><transition target="a">{log('default')}</transition></history>
              <state id="a"><transition event="next" target="b"/></state><state id="b"/>
              <transition event="leave" target="z"/>
            </state>
            <state id="z"><transition event="back" target="h"/></state>""",
        Step("", ("a",)),
        Step("next", ("b",)),
        Step("leave", ("z",)),
        Step("back", ("b",)),
    ),
    rule(
        "deep history of a parallel state brings every region back",
        "3.10.2",
        """<parallel id="p"><history id="h" type="deep"><transition target="a b"/></history>
             <state id="r1" initial="a"><state id="a"><transition event="n" target="a2"/></state><state id="a2"/></state>
             <state id="r2" initial="b"><state id="b"><transition event="n" target="c"/></state>
               <state id="c"><state id="c1"/></state></state>
             <transition event="leave" target="z"/>
           </parallel>
           <state id="z"><transition event="back" target="h"/></state>""",
        Step("", ("a", "b")),
        Step("n", ("a2", "c1")),
        Step("leave", ("z",)),
        Step("back", ("a2", "c1")),
    ),
    rule(
        "several default states of a deep history are entered together",
        "3.10.1",
        """<state id="z"><transition event="e" target="h"/></state>
           <parallel id="p"><history id="h" type="deep"><transition target="a2 b2"/></history>
             <state id="r1"><state id="a"/><state id="a2"/></state><state id="r2"><state id="b"/><state id="b2"/></state>
           </parallel>""",
        Step("", ("z",)),
        Step("e", ("a2", "b2")),
    ),
)

ERRORS = (
    rule(
        "an error ends its block, not the next one",
        "3.12.2, 3.8",
        f"""<state id="s"><onentry>{log('one')}<assign location="nowhere.x" expr="1"/>{log('never')}</onentry>
              <onentry>{log('two')}</onentry>
              <transition event="error.execution" target="t"/></state>
            <state id="t"/>""",
        Step("", ("t",), ("one", "two")),
    ),
    rule(
        "a condition that fails is false, and says so",
        "5.9.1",
        """<state id="s"><transition event="e" cond="nobody.knows" target="wrong"/>
             <transition event="error.execution" target="right"/></state>
           <state id="wrong"/><state id="right"/>""",
        Step("", ("s",)),
        Step("e", ("right",)),
    ),
    rule(
        "an error in a branch's condition lets the next branch have its turn",
        "5.9.1, 4.3",
        f"""<state id="s"><onentry><if cond="nobody.knows">{log('if')}<elseif cond="true"/>{log('elseif')}</if>{log('on')}</onentry>
              <transition event="error.execution">{log('error')}</transition></state>""",
        Step("", ("s",), ("elseif", "on", "error")),
    ),
    rule(
        "an error in a foreach ends the loop and the block around it",
        "4.6, 3.12.2",
        f"""<datamodel><data id="xs" expr="[1, 2]"/></datamodel>
            <state id="s"><onentry><foreach array="xs" item="x">{log('x')}<log expr="nobody.knows"/></foreach>{log('never')}</onentry>
              <transition event="error.execution">{log('error')}</transition></state>""",
        Step("", ("s",), ("x", "error")),
    ),
)

INVOKES = (
    rule(
        "a state that is left in the same macrostep never invokes",
        "App. D mainEventLoop: statesToInvoke when the macrostep is over",
        """<state id="s"><invoke id="child" type="scxml"><content><scxml version="1.0"><final id="f"/></scxml></content></invoke>
              <transition target="t"/></state>
            <state id="t"><onentry><send event="later"/></onentry>
              <transition event="done.invoke.*" target="wrong"/><transition event="later" target="right"/></state>
            <state id="wrong"/><state id="right"/>""",
        Step("", ("right",)),
        scion="starts the child, and its done event counts",
    ),
    rule(
        "the arguments of an invoke are those of the end of the macrostep",
        "App. D; 6.4.4",
        """<datamodel><data id="n" expr="0"/></datamodel>
           <state id="s">
             <invoke type="scxml"><param name="got" expr="n"/><content><scxml version="1.0">
               <datamodel><data id="got" expr="-1"/></datamodel>
               <state id="c"><onentry><send target="#_parent" event="tell"><param name="n" expr="got"/></send></onentry></state>
             </scxml></content></invoke>
             <state id="a"><onentry><raise event="i"/></onentry>
               <transition event="i"><assign location="n" expr="7"/></transition></state>
             <transition event="tell" cond="_event.data.n == 7" target="right"/>
             <transition event="tell" target="wrong"/>
           </state>
           <state id="right"/><state id="wrong"/>""",
        Step("", ("right",)),
        scion="invokes asynchronously",
    ),
    rule(
        "a cancelled child runs its exit handlers, innermost first, and its parent hears nothing of it",
        "6.4.3; App. D exitInterpreter",
        f"""<state id="s">
              <invoke type="scxml"><content><scxml version="1.0">
                <state id="c" ><onexit>{log('-c')}<send target="#_parent" event="dying"/></onexit>
                  <state id="d"><onexit>{log('-d')}</onexit></state></state>
              </scxml></content></invoke>
              <transition event="e" target="t"/></state>
            <state id="t"><transition event="dying" target="wrong"/></state><state id="wrong"/>""",
        Step("", ("s",)),
        Step("e", ("t",), ("-d", "-c")),
    ),
    rule(
        "a child that ends by itself sends first what its exit handlers say, then its done event",
        "6.4.3, App. D exitInterpreter",
        """<datamodel><data id="order" expr="[]"/></datamodel>
           <state id="s">
             <invoke type="scxml" id="c"><content><scxml version="1.0">
               <final id="f"><onexit><send target="#_parent" event="last"/></onexit><donedata><param name="v" expr="5"/></donedata></final>
             </scxml></content></invoke>
             <transition event="last"><script>order.push('last')</script></transition>
             <transition event="done.invoke.c" cond="order.length == 1 &amp;&amp; _event.data.v == 5" target="right"/>
             <transition event="done.invoke.c" target="wrong"/>
           </state>
           <state id="right"/><state id="wrong"/>""",
        Step("", ("right",)),
        scion="invokes asynchronously",
    ),
    rule(
        "finalize runs before transitions are selected, for events of its own child only",
        "6.5; App. D mainEventLoop",
        """<datamodel><data id="n" expr="0"/></datamodel>
           <state id="s">
             <invoke type="scxml" id="one"><content><scxml version="1.0">
               <state id="c"><onentry><send target="#_parent" event="x"><param name="v" expr="4"/></send></onentry></state>
             </scxml></content><finalize><assign location="n" expr="_event.data.v"/></finalize></invoke>
             <invoke type="scxml" id="two"><content><scxml version="1.0"><state id="d"/></scxml></content>
               <finalize><assign location="n" expr="99"/></finalize></invoke>
             <transition event="x" cond="n == 4" target="right"/><transition event="x" target="wrong"/>
           </state>
           <state id="right"/><state id="wrong"/>""",
        Step("", ("right",)),
        scion="invokes asynchronously",
    ),
)

RULES = (*SELECTION, *EVENTLESS, *DOMAIN, *HISTORY, *ERRORS, *INVOKES)
