"""Implementations for media.json, with an actor of each kind."""

from statecharts import Implementations, from_callback, from_observable

impl = Implementations()


@impl.update("keep")
def keep(context, event):
    if "snapshot" in event:
        return {"volume": event["snapshot"].context or context["volume"]}
    return {"tracks": [*context["tracks"], event["output"]]}


@impl.action("tick")
def tick():
    pass


async def values():
    yield 1


impl.actors["stream"] = from_observable(values)


def keyboard(send_back, receive):
    receive(lambda event: send_back({"type": "MUTE"}))


impl.actors["keyboard"] = from_callback(keyboard)


@impl.actor("fetch")
async def fetch():
    return "b"
