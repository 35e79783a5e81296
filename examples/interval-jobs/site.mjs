// A small site to crawl: three pages that link to each other.

import { createServer } from 'node:http'

const pages = {
  '/': '<title>Bells</title><p>About bells. <a href="/carillons">Carillons</a>',
  '/carillons': '<title>Carillons</title><p>At least 23 bells. <a href="/towers">Towers</a>',
  '/towers': '<title>Towers</title><p>Where bells hang. <a href="/">Back</a>',
}

export function startSite() {
  const server = createServer((request, response) => {
    const page = pages[request.url]
    response.writeHead(page ? 200 : 404, { 'Content-Type': 'text/html' }).end(page ?? '')
  })
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => {
      const host = `127.0.0.1:${server.address().port}`
      const stop = () => {
        const closed = new Promise(done => server.close(done))
        server.closeAllConnections()
        return closed
      }
      resolve({ host, url: `http://${host}/`, stop })
    })
  })
}
