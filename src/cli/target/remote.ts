// A service elsewhere, asked through the client.

import { createClient } from '../../client/index.ts'
import type { Asked } from '../../client/transport.ts'
import type { Api, Revoked, SessionApi, SessionPage, SourceApi } from './api.ts'

const root = '/api/v1'
const at = (path: string, name: string) => `${root}/${path}/${encodeURIComponent(name)}`

export function remoteApi(url: string, token: string | null): Api {
  const client = createClient({ url, ...(token === null ? {} : { token }) })
  const ask = <T>(asked: Asked) => client.request<T>(asked)
  return Object.assign(client, { sources: sourcesOf(ask), sessions: sessionsOf(ask) })
}

type Ask = <T>(asked: Asked) => Promise<T>

function sourcesOf(ask: Ask): SourceApi {
  const [sources, limits] = ['sources', 'source-limits'] as const
  const [list, listLimits] = [`${root}/${sources}`, `${root}/${limits}`]
  return {
    create: (body, query, call) => ask({ method: 'POST', path: list, body, query, ...call }),
    replace: (name, body, query, call) =>
      ask({ method: 'PUT', path: at(sources, name), body, query, ...call }),
    remove: (name, query, call) =>
      ask({ method: 'DELETE', path: at(sources, name), query, ...call }),
    list: (query, call) => ask({ method: 'GET', path: list, query, ...call }),
    get: (name, query, call) => ask({ method: 'GET', path: at(sources, name), query, ...call }),
    setLimit: (domain, body, query, call) =>
      ask({ method: 'PUT', path: at(limits, domain), body, query, ...call }),
    removeLimit: (domain, query, call) =>
      ask({ method: 'DELETE', path: at(limits, domain), query, ...call }),
    listLimits: (query, call) => ask({ method: 'GET', path: listLimits, query, ...call }),
  }
}

function sessionsOf(ask: Ask): SessionApi {
  return {
    list: (query, call) =>
      ask<SessionPage>({ method: 'GET', path: `${root}/sessions`, query, ...call }),
    revoke: (token, call) =>
      ask<Revoked>({ method: 'POST', path: `${root}/tokens/revoke`, body: { token }, ...call }),
  }
}
