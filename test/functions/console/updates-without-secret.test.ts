import { expect, it } from 'vitest'
import { usingMessenger } from './messenger-support.ts'

const m = usingMessenger()

it.each(['/console/messenger/updates/acc_01kf0rdqg00000000000000001', '/console/bot/webhook'])(
  'an update at %s without a secret is refused, even if no data can be read',
  async (path) => {
    m.platform.store.client.middlewareStack.add(
      () => () => Promise.reject(Object.assign(new Error('no table'), { name: 'ResourceNotFoundException' })),
      { step: 'initialize', name: 'no-table', override: true },
    )
    try {
      const { status, body } = await m.platform.call('POST', path, { body: { update_id: 1 } })
      expect([status, body.error.code]).toEqual([401, 'unauthorized'])
    } finally {
      m.platform.store.client.middlewareStack.remove('no-table')
    }
  },
)
