import { SECOND } from '../kernel/clock.ts'
import type { Sockets } from '../kernel/ports/sockets.ts'
import { requestTo, signedRequests } from './signed-requests.ts'

type Environment = Record<string, string | undefined>

/** Timeout that keeps one slow connection from delaying its worker. */
const DEADLINE = 3 * SECOND

/**
 * Creates a client of the management API of an API Gateway WebSocket API. Two operations don't need an SDK client.
 * @param url address of the API's stage, which pages connect to
 */
export const createSockets = (url: string | undefined, environment: Environment): Sockets => {
  const requests = signedRequests('execute-api', environment, DEADLINE, true)
  const request = async (method: 'POST' | 'DELETE', connectionId: string, body?: string): Promise<'done' | 'gone'> => {
    if (url === undefined) throw new Error('this stage has no live connections (liveUpdates)')
    const stage = environment.AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI ?? url.replace(/^ws/, 'http')
    const address = new URL(`${stage}/@connections/${encodeURIComponent(connectionId)}`)
    const answer = await requests.send(requestTo(address, { method, headers: {}, ...(body !== undefined && { body }) }))
    if (answer.status === 410) return 'gone'
    if (answer.status < 300) return 'done'
    throw new Error(`API Gateway refused ${method} of a connection: ${answer.status}`)
  }
  return {
    send: async (connectionId, message) =>
      (await request('POST', connectionId, message)) === 'gone' ? 'gone' : 'sent',
    close: async (connectionId) => {
      await request('DELETE', connectionId)
    },
  }
}
