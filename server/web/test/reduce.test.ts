// The property of the reducer (brief 12.10): whatever the network does, the page comes to
// show what a page shows that is opened then.

import assert from "node:assert/strict";
import { test } from "node:test";
import { activePath } from "../src/state/path.ts";
import { timelineSelector } from "../src/state/timeline.ts";
import type { AppState, TimelineItem } from "../src/state/types.ts";
import { dice, logs, session, World, type Log } from "./world.ts";

const rounds = 12;

/** What a reader sees, and what it stands on. */
function seen(state: AppState) {
  const { open } = state;
  assert.ok(open);
  const show = (item: TimelineItem): unknown => {
    switch (item.is) {
      case "call":
        return [item.is, item.key, item.state, item.output];
      case "group":
      case "folded":
        return [item.is, item.key, item.calls.map(show)];
      case "foot":
        return [item.is, item.key, item.foot];
      case "diagnostic":
        return null; // makes no entry: it is gone with a reload
      default:
        return [item.is, item.key, "text" in item ? item.text : ""];
    }
  };
  return {
    entries: [...open.entries.keys()].sort(),
    path: activePath(open).map((e) => e.id),
    leaf: open.leaf,
    standing: (state.standing.get(session)?.calls ?? []).map((c) => [c.run_id, c.tool_call_id, c.arguments, c.created_at]),
    shown: timelineSelector()(state).items.map(show).filter((i) => i !== null),
    faults: state.faults,
    malformed: state.malformedFrames,
  };
}

/** A page opened when everything is written. */
function reloaded(log: Log) {
  const world = new World(log, dice(1));
  while (!world.over) {
    world.write();
  }
  world.give({ is: "open", session });
  world.connect();
  world.settle();
  return seen(world.state);
}

function everyLog(name: string, play: (world: World, roll: (n: number) => number) => void, o: { pageSize?: number; replayLimit?: number } = {}): void {
  test(name, () => {
    for (const [i, log] of logs().entries()) {
      const want = reloaded(log);
      for (let round = 0; round < rounds; round++) {
        const roll = dice(1 + i * rounds + round);
        const world = new World(log, roll, o);
        play(world, roll);
        world.settle();
        while (world.state.open?.earlier === "more" && o.pageSize) {
          world.earlier();
          world.settle();
        }
        assert.deepEqual(seen(world.state), want, `log ${i + 1}, round ${round}`);
        assert.equal(world.state.caughtUp, true, `log ${i + 1}, round ${round}: never live again`);
      }
    }
  });
}

/** Writes the rest of the log, with steps of the page in between. */
function live(world: World, roll: (n: number) => number, also: () => void = () => undefined): void {
  while (!world.over) {
    world.write();
    also();
    for (let n = roll(6); n > 0; n--) {
      world.step();
    }
  }
}

everyLog("what was heard live is what a reload shows", (world, roll) => {
  world.give({ is: "open", session });
  world.connect();
  live(world, roll);
});

everyLog("a session opened in the middle of a run shows all of the run", (world, roll) => {
  world.connect();
  for (let n = roll(60); n > 0 && !world.over; n--) {
    world.write();
    world.step();
  }
  world.give({ is: "open", session });
  live(world, roll);
});

everyLog("a session left and opened again shows the same", (world, roll) => {
  world.give({ is: "open", session });
  world.connect();
  live(world, roll, () => {
    if (roll(10) === 0) {
      world.give({ is: "close" });
      for (let n = roll(5); n > 0; n--) {
        world.step();
      }
      world.give({ is: "open", session });
    }
  });
});

everyLog("a connection that is cut at any places loses nothing and shows nothing twice", (world, roll) => {
  world.give({ is: "open", session });
  world.connect();
  let down = false;
  live(world, roll, () => {
    if (roll(8) === 0) {
      if (down) {
        world.connect();
      } else {
        world.cut();
      }
      down = !down;
    }
  });
  if (down) {
    world.connect();
  }
});

everyLog("a page that reads history in small pages comes to the same", (world, roll) => {
  world.give({ is: "open", session });
  world.connect();
  let down = false;
  live(world, roll, () => {
    if (roll(12) === 0) {
      if (down) {
        world.connect();
      } else {
        world.cut();
      }
      down = !down;
    }
  });
  if (down) {
    world.connect();
  }
}, { pageSize: 3 });

everyLog("holes in the stream are filled from the log", (world, roll) => {
  world.give({ is: "open", session });
  world.connect();
  live(world, roll, () => {
    if (roll(7) === 0) {
      world.lag();
    }
  });
});

everyLog("a run longer than a replay is read from the log", (world, roll) => {
  world.give({ is: "open", session });
  world.connect();
  live(world, roll, () => {
    if (roll(9) === 0) {
      world.lag();
    } else if (roll(15) === 0) {
      world.cut();
      world.connect();
    }
  });
}, { replayLimit: 3 });
