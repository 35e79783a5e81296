// `/api/v1/tokens`: ending tokens and sessions before their time.

import { revokeToken } from '../../use-cases/tokens/tokens.ts'
import { resource } from '../app/resource.ts'

export const tokenRoutes = resource('/api/v1/tokens', 'system', [
  ['POST', '/revoke', 'Revoke a token or end a session (admins of every tenant)', revokeToken],
])
