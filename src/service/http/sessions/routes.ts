// `/api/v1/sessions`: who is signed in.

import { listSessions } from '../../use-cases/tokens/tokens.ts'
import { resource } from '../app/resource.ts'

export const sessionListRoutes = resource('/api/v1/sessions', 'system', [
  ['GET', '', 'Who is signed in (admins of every tenant)', listSessions],
])
