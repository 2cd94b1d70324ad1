"""The durable runtime's decisions: what one delivery does to an instance, as rows to be written together.

Theory of operation
-------------------

An *instance* is a running machine in a store. Its **state** is the text of an
envelope (:mod:`statecharts.interpreter.envelope`): the whole actor system at
rest. Its **version** counts the deliveries that have been applied; each has
one row in the **log**.

A *decision* (:mod:`.decisions`) takes what a store has loaded and answers with
a :class:`~.commits.Commit`: the instance after, inbox rows, log rows, effects,
timers, and the receipt for whoever asked. It is pure but for a cache. The
store writes all of it in one transaction, or nothing, and only if nobody has
written to the instance meanwhile (``revision``); else the decision is made
again from what is there then.

Nothing here performs an effect, reads a clock or draws a number: times come
with what was loaded, ids from whoever calls. What the rows of effects go
through afterwards is in :mod:`.effects`.
"""
