// The dashboard in the browser: one document for all of its pages, and the files it asks for.

import { z } from 'zod'
import type { App, AppParts, Reply, Request, Routes } from '../app/parts.ts'
import { notFound } from '../../use-cases/call/refusal.ts'
import { basePathOf } from './base.ts'
import { bundleFolder, readBundle, type Asset, type Bundle } from './bundle.ts'

/** No code and no style but our own files; nothing of others; in nobody's frame. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

const notBuilt =
  'The dashboard is not built here: run `npm run build` and start again.\n' +
  'The API works without it: /openapi.json describes it.\n'

const config = { access: 'open' } as const
const schema = { hide: true }

export const dashboardRoutes: Routes = (app, parts) => {
  if (!parts.settings.servesDashboard) return
  const folder = bundleFolder()
  if (folder === null) {
    app.route({
      method: 'GET',
      url: '/',
      config,
      schema,
      handler: async (_request, reply) =>
        reply.code(503).type('text/plain; charset=utf-8').send(notBuilt),
    })
    return
  }
  const bundle = readBundle(folder)
  for (const url of bundle.pages) pageRoute(app, parts, bundle, url)
  assetRoute(app, bundle)
}

function pageRoute(app: App, parts: AppParts, bundle: Bundle, url: string): void {
  app.route({
    method: 'GET',
    url,
    config,
    schema,
    handler: async (request, reply) =>
      reply
        .header('Content-Security-Policy', PAGE_POLICY)
        .type('text/html; charset=utf-8')
        .send(documentFor(request, parts, bundle)),
  })
}

function documentFor(request: Request, parts: AppParts, { document }: Bundle): string {
  const base = basePathOf(request, parts)
  const told = [
    ['carillon-base', base],
    ['carillon-environment', parts.settings.environment ?? ''],
    ['carillon-version', parts.version],
  ]
  const metas = told.map(([name, text]) => `<meta name="${name}" content="${escape(text!)}">`)
  // By functions: a `$` in a text is a plain one.
  return document
    .replaceAll(/(src|href)="\.\//g, (_all, name: string) => `${name}="${escape(base)}/`)
    .replace('</title>', () => `</title>${metas.join('')}`)
}

function escape(text: string): string {
  const marks: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replaceAll(/[&<>"']/g, mark => marks[mark]!)
}

/** A name holds the hash of its content, so what was fetched once is good for ever. */
function assetRoute(app: App, { assets }: Bundle): void {
  app.route({
    method: 'GET',
    url: '/assets/:name',
    config,
    schema: { ...schema, params: z.object({ name: z.string().max(200) }) },
    handler: async (request, reply) => {
      const asset = assets.get(request.params.name)
      if (asset === undefined) throw notFound('there is no such file')
      return sendAsset(request, reply, asset)
    },
  })
}

function sendAsset(request: Request, reply: Reply, { type, plain, gzip }: Asset): Reply {
  reply
    .header('Cache-Control', 'public, max-age=31536000, immutable')
    .header('Vary', 'Accept-Encoding')
    .type(type)
  const isPacked = gzip !== null && acceptsGzip(request.headers['accept-encoding'])
  return isPacked ? reply.header('Content-Encoding', 'gzip').send(gzip) : reply.send(plain)
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .some(part => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(part))
}
