import { randomUUID } from 'node:crypto'
import { must, send } from '../e2e/support.ts'

/** A member of a workspace, signed in to the console. */
export interface Person {
  token: string
  user: { id: string }
}

/** Adds a member to the workspace that an integration's token is for. */
export const newMember = async (baseUrl: string, integrationToken: string): Promise<Person> => {
  const { id } = await must(baseUrl, 'GET', '/api/v1/workspace', { token: integrationToken })
  const body = { user: `Person ${randomUUID()}`, workspace: id, role: 'member' }
  return must(baseUrl, 'POST', '/console/session', { body })
}

/** Consents as a person does on the page, with every scope. @returns the address that the browser is sent back to */
export const consentToHost = async (baseUrl: string, authorize: URL, { token }: Person): Promise<string> => {
  const { headers } = await send(baseUrl, 'GET', `${authorize.pathname}${authorize.search}`)
  const tg = new URL(headers.get('location') ?? '').searchParams.get('tg')
  const asked = await must(baseUrl, 'GET', `/connect/consent/request?tg=${tg}`, { token })
  const scopes = asked.scopes.map(({ scope }: { scope: string }) => scope)
  const body = { tg, decision: 'approve', scopes }
  return (await must(baseUrl, 'POST', '/connect/consent/decision', { token, body })).redirect_to
}
