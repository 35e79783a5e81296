// What a process keeps beside an engine: made when it is first needed, one for each engine.

import type { Engine } from '../../../create-engine.ts'

export class PerEngine<T> {
  readonly #make: (engine: Engine) => T
  readonly #held = new WeakMap<Engine, T>()

  constructor(make: (engine: Engine) => T) {
    this.#make = make
  }

  of(engine: Engine): T {
    const held = this.#held.get(engine) ?? this.#make(engine)
    this.#held.set(engine, held)
    return held
  }

  /** To be ended by its caller: whoever needs one afterwards gets a new one. Null when nothing needed it. */
  drop(engine: Engine): T | null {
    const held = this.#held.get(engine) ?? null
    this.#held.delete(engine)
    return held
  }
}
