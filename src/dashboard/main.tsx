// Where the browser starts.

import { render } from 'preact'
import { App } from './shell/app.tsx'
import { setFavicon } from './shell/logo.tsx'

setFavicon()
render(<App />, document.querySelector('#app')!)
