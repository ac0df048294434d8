import { regionOf, suffixOf } from '../kernel/bucket-address.ts'
import { SECOND } from '../kernel/clock.ts'
import type { Mail } from '../kernel/ports/mail.ts'
import { requestTo, signedRequests } from './signed-requests.ts'

type Environment = Record<string, string | undefined>

/** Timeout that keeps a slow provider from blocking a request. The sweeper sends what wasn't accepted in time. */
const DEADLINE = 5 * SECOND

/**
 * Creates a client of Amazon SES (API version 2). One operation doesn't need an SDK client.
 * @param from verified address that the e-mails come from; without one, nothing can be sent
 */
export const createMail = (from: string | undefined, environment: Environment): Mail => ({
  async send({ to, subject, text, html, unsubscribe }) {
    if (from === undefined) throw new Error('no sender is configured (mailFrom)')
    const region = regionOf(environment)
    const address = environment.AWS_ENDPOINT_URL_SESV2 ?? environment.AWS_ENDPOINT_URL
    const url = new URL('/v2/email/outbound-emails', address ?? `https://email.${region}.${suffixOf(region)}`)
    const part = (Data: string) => ({ Data, Charset: 'UTF-8' })
    const body = JSON.stringify({
      FromEmailAddress: from,
      Destination: { ToAddresses: [to] },
      Content: {
        Simple: {
          Subject: part(subject),
          Body: { Text: part(text), ...(html !== undefined && { Html: part(html) }) },
          ...(unsubscribe !== undefined && {
            Headers: [
              { Name: 'List-Unsubscribe', Value: `<${unsubscribe}>` },
              { Name: 'List-Unsubscribe-Post', Value: 'List-Unsubscribe=One-Click' },
            ],
          }),
        },
      },
    })
    const request = requestTo(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const answer = await signedRequests('ses', environment, DEADLINE).send(request)
    if (answer.status === 200) return
    throw new Error(`SES refused an e-mail: ${answer.status} ${Buffer.from(answer.body).toString().slice(0, 300)}`)
  },
})
