// A small shop to fetch from: five articles, prices by page number and stock by cursor.

import { createServer } from 'node:http'

const articles = [1, 2, 3, 4, 5].map(id => ({ id, price: { amount: id * 1.5 }, left: 10 - id }))

/** `/prices?page=2&limit=2` → `{ data: { items, hasMore } }` */
function prices(query) {
  const limit = Number(query.get('limit'))
  const from = (Number(query.get('page')) - 1) * limit
  const items = articles.slice(from, from + limit)
  return { data: { items, hasMore: from + limit < articles.length } }
}

/** `/stock?after=3` → `{ items, next }` */
function stock(query) {
  const after = Number(query.get('after') ?? 0)
  const items = articles.filter(({ id }) => id > after).slice(0, 3)
  const last = items.at(-1)?.id ?? null
  return { items, next: last === articles.length ? null : last }
}

/** The first request for prices is refused, to show what a retry does. */
export async function openShop(token) {
  let asked = 0
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://shop')
    const isStock = pathname === '/stock'
    const isAllowed = !isStock || request.headers.authorization === `Bearer ${token}`
    response.statusCode = !isAllowed ? 401 : !isStock && asked++ === 0 ? 503 : 200
    response.end(JSON.stringify(isStock ? stock(searchParams) : prices(searchParams)))
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return { host: `127.0.0.1:${server.address().port}`, close: () => server.close() }
}
