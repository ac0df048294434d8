import { refreshOf } from '#testkit/oauth.ts'
import type { Scenario } from './scenario.ts'

export const oauthScenarios: readonly Scenario[] = [
  {
    endpoint: 'POST /oauth/token',
    variant: 'a code',
    async prepare(stage) {
      const form = await stage.exchangeForm(await stage.install())
      return { send: () => stage.token(form) }
    },
  },
  {
    endpoint: 'POST /oauth/token',
    variant: 'a refresh token',
    async prepare(stage) {
      const app = await stage.install()
      const { body } = await stage.token(await stage.exchangeForm(app))
      return { send: () => stage.token(refreshOf(app, body.refresh_token)) }
    },
  },
]
