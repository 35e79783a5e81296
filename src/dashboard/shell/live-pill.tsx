// How fresh the screen is: connected or not, how much happens, when the scheduler last looked.

import { useEffect } from 'preact/hooks'
import { every, second } from '../clock.ts'
import { isLivePaused, link, recent, toggleLive } from '../data/live.ts'
import { never, useRead } from '../data/read.ts'
import { reads } from '../data/reads.ts'
import { relativeText, spanText } from '../components/format.ts'
import { Icon } from '../components/icon.tsx'

const RATE_MS = 10_000

export function LivePill() {
  const now = second.value
  const { state, since } = link.value
  const isPaused = isLivePaused.value
  const rate = recent.value.filter(at => now - at < RATE_MS).length / (RATE_MS / 1_000)
  const kind = isPaused ? 'paused' : state
  const text = isPaused
    ? 'Live paused'
    : state === 'live'
      ? `Live${rate >= 0.1 ? ` ${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s` : ''}`
      : state === 'connecting'
        ? 'Connecting'
        : `Offline for ${spanText(Math.max(0, now - since), { isCoarse: true })}`
  return (
    <button
      type="button"
      class={`pill live ${kind}`}
      aria-pressed={isPaused}
      title={isPaused ? 'Go on with live updates (.)' : 'Pause live updates (.)'}
      onClick={toggleLive}
    >
      <span class="dot" />
      {text}
    </button>
  )
}

const LOOK_MS = 10_000
const SILENT_MS = 45_000

/** The newest tick of any node. */
export function TickPill() {
  const { data, problem, reload } = useRead(reads.system(), never)
  useEffect(() => every(LOOK_MS, reload), [])
  const now = second.value
  if (problem !== null && problem.status === 0) {
    return (
      <span class="pill bad">
        <Icon name="warn" /> No answer
      </span>
    )
  }
  if (data === undefined) return null
  if (data.store.status !== 'reachable') {
    return (
      <span class="pill bad">
        <Icon name="warn" /> {data.store.status}
      </span>
    )
  }
  const at = data.last_tick_at === null ? null : Date.parse(data.last_tick_at)
  const isSilent = at === null || now - at > SILENT_MS
  return (
    <span class={`pill tick${isSilent ? ' bad' : ''}`}>
      {at === null ? 'No scheduler runs' : isSilent ? `No tick for ${spanText(now - at)}` : null}
      {!isSilent && `Tick ${relativeText(Math.min(at, now), now)}`}
    </span>
  )
}
