// Alerts of a running service: watched and sent when an address is set.

import type { Outbound } from '../../actions/guard/outbound.ts'
import type { Engine } from '../../create-engine.ts'
import { readReaped } from '../../engine/reaped.ts'
import { AlertSender } from './sender.ts'
import type { Logger } from '../../observe/log.ts'
import { parseAlertLimits, type AlertConfig } from './limits.ts'
import { AlertMessages } from './messages.ts'
import { postAlert } from './post.ts'
import { AlertWatch } from './watch.ts'

export interface Alerts {
  /** For `/metrics`. */
  readonly text: () => string
  readonly stop: () => Promise<void>
}

export interface AlertParts {
  readonly engine: Engine
  readonly outbound: Outbound
  readonly log: Logger | null
}

/** Without an address nothing is sent; what goes wrong with jobs is found and logged all the same. */
export async function openAlerts(
  config: AlertConfig & { readonly worker: boolean },
  { engine, outbound, log }: AlertParts,
): Promise<Alerts> {
  const { alertUrl: url, alertSecret } = config
  // A node that runs jobs does so from its own start to its end.
  if (!config.worker) engine.episodes.start()
  const stopEpisodes = async () => {
    if (!config.worker) await engine.episodes.stop()
  }
  if (url === null) return { text: () => '', stop: stopEpisodes }
  const { clock } = engine
  const post = postAlert({ outbound, clock, url, secret: alertSecret })
  const sender = new AlertSender({ clock, log, post })
  const { limits, off } = parseAlertLimits(config.alerts, 'CARILLON_ALERTS')
  const cleared = () => readReaped(engine, {})
  const watch = new AlertWatch({ engine, limits, sender, cleared })
  watch.start()
  const messages = new AlertMessages({ engine, sender, off })
  await messages.start()
  return {
    text: () => sender.text(),
    stop: async () => {
      await stopEpisodes()
      await watch.stop()
      await sender.stop()
      await messages.stop()
    },
  }
}
