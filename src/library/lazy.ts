// Parts that are only loaded when they are used, and anew for each engine.

import type { Engine } from '../create-engine.ts'

export interface Opened {
  /** From now on the node takes jobs that need this part. */
  serve(): void
  close(): Promise<void>
}

export interface Lazy<T extends Opened> {
  open(engine: Engine): Promise<T>
  /** Resolves when what was opened is closed. */
  close(): Promise<void>
}

export function lazy<T extends Opened>(load: (engine: Engine) => Promise<T>): Lazy<T> {
  let held: { readonly engine: Engine; readonly opened: Promise<T> } | null = null
  const close = async (): Promise<void> => {
    const last = held
    held = null
    const opened = await last?.opened.catch(() => null)
    await opened?.close()
  }
  const open = (engine: Engine): Promise<T> => {
    if (held?.engine !== engine) {
      void close().catch(() => {})
      held = { engine, opened: load(engine) }
    }
    return held.opened
  }
  return { open, close }
}

/** The node takes such jobs from its start on; without the part there is no start. */
export async function serve<T extends Opened>(engine: Engine, part: Lazy<T>): Promise<void> {
  const opened = await part.open(engine)
  opened.serve()
}
