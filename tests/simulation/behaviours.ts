// What handlers do in a world: end well, fail, ask for another moment, hang, ignore what they are
// told, or take their node down with them. Each call is witnessed from the inside.

import type { Millis } from '../../src/core/time.ts'
import type { Context } from '../../src/engine/context.ts'
import { Defer, NoRetry, RetryAfter, Skip } from '../../src/core/run/outcome.ts'
import type { Clock } from '../../src/runtime/clock.ts'
import type { Witness } from './history.ts'
import { Random } from './random.ts'
import type { Recorder } from './recorder.ts'
import type { Behaviour } from './specs.ts'

export interface Stage {
  readonly seed: number
  readonly node: string
  readonly life: number
  /** The clock of the node the handler runs in: it freezes and dies with it. */
  readonly clock: Clock
  readonly worldNow: () => number
  readonly recorder: Recorder
  readonly leaseMs: Millis
  /** The time of trouble is over: everybody behaves. */
  readonly isQuiet: () => boolean
  readonly killNode: () => void
}

export function makeHandler(stage: Stage): (context: Context) => unknown {
  return context => {
    const witness = witnessed(stage, context)
    const behaviour = (context.payload as { behaviour: Behaviour }).behaviour
    const random = new Random(`${stage.seed}:${context.job.id}:${context.fence}`)
    const listens = behaviour !== 'quick'
    if (listens) {
      context.signal.addEventListener('abort', () => {
        witness.abortedAt = stage.worldNow()
        witness.abortReason = String((context.signal.reason as { reason?: string }).reason)
      })
    }
    const end = (how: 'ok' | 'thrown') => {
      witness.endedAt = stage.worldNow()
      witness.ended = how
      stage.recorder.line(`${stage.node} handler of ${context.runId} f${context.fence} ends ${how}`)
    }
    try {
      const returned = behave(stage.isQuiet() ? calm(behaviour) : behaviour, {
        stage,
        context,
        random,
      })
      if (!(returned instanceof Promise)) {
        end('ok')
        return returned
      }
      return returned.then(
        value => {
          end('ok')
          return value
        },
        (error: unknown) => {
          end('thrown')
          throw error
        },
      )
    } catch (error) {
      end('thrown')
      throw error
    }
  }
}

function calm(behaviour: Behaviour): Behaviour {
  return behaviour === 'poison' || behaviour === 'deaf' ? 'ok' : behaviour
}

function witnessed(stage: Stage, context: Context): Witness {
  const { node, life, recorder } = stage
  const witness: Witness = {
    node,
    life,
    jobId: context.job.id,
    run: context.run,
    attempt: context.attempt,
    fence: context.fence,
    occurrence: context.scheduledFor.getTime(),
    key: context.idempotencyKey,
    attemptId: context.attemptId,
    startedAt: stage.worldNow(),
    leaseUntil: context.job.lease!.until,
    endedAt: null,
    ended: null,
    abortedAt: null,
    abortReason: null,
  }
  recorder.witness.push(witness)
  recorder.line(`${node} handler of ${context.runId} f${context.fence} starts`)
  return witness
}

interface Scene {
  readonly stage: Stage
  readonly context: Context
  readonly random: Random
}

function behave(behaviour: Behaviour, scene: Scene): unknown {
  const { stage, random, context } = scene
  switch (behaviour) {
    case 'quick':
      return random.chance(0.5) ? null : { done: context.run }
    case 'ok':
      return sleep(scene, random.int(1, 800), true).then(() => 'done')
    case 'flaky':
      return flaky(scene)
    case 'verdicts':
      return verdicts(scene)
    case 'slow':
      return sleep(scene, Math.floor(stage.leaseMs * (0.8 + random.next() * 1.7)), true)
    case 'hang':
      return random.chance(0.5) ? sleep(scene, 1e9, true) : sleep(scene, 100, true)
    case 'deaf':
      return sleep(scene, random.int(500, stage.leaseMs * 2), false)
    case 'beat':
      return beating(scene)
    case 'poison':
      return random.chance(0.85) ? poisoned(scene) : sleep(scene, 50, true)
  }
}

/** Rejects when told to stop, unless it does not listen. */
function sleep({ stage, context }: Scene, ms: Millis, listens: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = stage.clock.after(ms, resolve)
    if (!listens) return
    context.signal.addEventListener('abort', () => {
      cancel()
      reject(context.signal.reason as Error)
    })
  })
}

async function flaky(scene: Scene): Promise<unknown> {
  const { random } = scene
  await sleep(scene, random.int(1, 600), true)
  const draw = random.next()
  if (draw < 0.4) throw new Error('flaky')
  if (draw < 0.45) throw new NoRetry('hopeless')
  if (draw < 0.55) throw new RetryAfter(random.int(100, 5_000))
  return 'done'
}

async function verdicts(scene: Scene): Promise<unknown> {
  const { random, stage } = scene
  await sleep(scene, random.int(1, 300), true)
  const draw = random.next()
  if (draw < 0.3) throw new Skip('nothing to do')
  if (draw < 0.6) {
    throw new Defer(stage.clock.now() + random.int(100, 6_000), 'later', random.chance(0.5))
  }
  return 'done'
}

async function beating(scene: Scene): Promise<unknown> {
  const { random, context } = scene
  for (let i = 0; i < 3; i++) {
    await sleep(scene, random.int(100, 1_200), true)
    context.progress(i / 3, 'on the way')
    context.log.info(`step ${i}`)
    await context.heartbeat({ step: i })
  }
  return { from: context.checkpoint ?? null }
}

function poisoned({ stage, random }: Scene): Promise<void> {
  stage.clock.after(random.int(1, 200), stage.killNode)
  return new Promise(() => {})
}
