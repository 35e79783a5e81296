// Alerts of a running service: watched and sent when an address is set.

import type { Outbound } from '../../actions/guard/outbound.ts'
import type { Engine } from '../../engine/engine.ts'
import { readReaped } from '../../engine/reaped.ts'
import { AlertSender } from '../../observe/alerts.ts'
import type { Logger } from '../../observe/log.ts'
import { parseAlertLimits, type AlertConfig } from './limits.ts'
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

/** Does nothing and costs nothing when no address is set. */
export function openAlerts(config: AlertConfig, { engine, outbound, log }: AlertParts): Alerts {
  const { alertUrl: url, alertSecret } = config
  if (url === null) return { text: () => '', stop: async () => {} }
  const { clock } = engine
  const post = postAlert({ outbound, clock, url, secret: alertSecret })
  const sender = new AlertSender({ clock, log, post })
  const { limits } = parseAlertLimits(config.alerts, 'CARILLON_ALERTS')
  const cleared = () => readReaped(engine, {})
  const watch = new AlertWatch({ engine, limits, sender, cleared })
  watch.start()
  return {
    text: () => sender.text(),
    stop: async () => {
      await watch.stop()
      await sender.stop()
    },
  }
}
