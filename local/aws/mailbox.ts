import type { IncomingMessage, ServerResponse } from 'node:http'
import { AwsError } from './error.ts'

interface Received {
  at: Date
  from: string
  to: string
  subject: string
  text: string
  html: string | undefined
  /** Value of `List-Unsubscribe`. */
  unsubscribe: string | undefined
}

/** Stand-in for Amazon SES. Keeps what was sent, for people to read (local/stand-ins.ts). */
export interface Mailbox {
  /** Takes an e-mail in the form of SES's `SendEmail` (API version 2). */
  take(body: string): object
  /** Returns the page that shows the latest e-mails. */
  page(): string
  /** E-mails of this run, newest first. */
  readonly received: readonly Received[]
}

const SEND_PATH = '/v2/email/outbound-emails'

/** E-mails to keep. */
const KEPT = 100

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)

export const createMailbox = (now: () => number = Date.now): Mailbox => {
  const received: Received[] = []
  return {
    received,
    take(body) {
      const sent = JSON.parse(body)
      const simple = sent.Content?.Simple
      const [to] = sent.Destination?.ToAddresses ?? []
      const text = simple?.Body?.Text?.Data
      if (!sent.FromEmailAddress || !to || !simple?.Subject?.Data || !text)
        throw new AwsError(
          'BadRequestException',
          'FromEmailAddress, ToAddresses, Subject and Body.Text are required',
          400,
        )
      const headers: { Name: string; Value: string }[] = simple.Headers ?? []
      received.unshift({
        at: new Date(now()),
        from: sent.FromEmailAddress,
        to,
        subject: simple.Subject.Data,
        text,
        html: simple.Body.Html?.Data,
        unsubscribe: headers.find(({ Name }) => Name === 'List-Unsubscribe')?.Value,
      })
      received.splice(KEPT)
      return { MessageId: `local-${received.length}-${now()}` }
    },
    page() {
      const mails = received.map(
        ({ at, from, to, subject, text, html, unsubscribe }) =>
          `<article><h2>${escapeHtml(subject)}</h2><p>To ${escapeHtml(to)}, from ${escapeHtml(from)}, ${at.toISOString()}</p>${
            unsubscribe ? `<p>List-Unsubscribe: ${escapeHtml(unsubscribe)}</p>` : ''
          }<pre>${escapeHtml(text)}</pre>${
            html
              ? `<details><summary>As HTML</summary><iframe sandbox srcdoc="${escapeHtml(html)}"></iframe></details>`
              : ''
          }</article>`,
      )
      return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Mailbox</title>
<style>body{font:16px/1.5 system-ui;max-width:44rem;margin:2rem auto;padding:0 1rem}pre{white-space:pre-wrap;background:#f4f4f4;padding:1rem;overflow-wrap:anywhere}iframe{width:100%;height:30rem;border:1px solid #ccc}</style>
<h1>Mailbox</h1><p>E-mail that the platform sent during this run. Nothing leaves this machine.</p>
${mails.join('\n') || '<p>No e-mail yet. Reload this page to look again.</p>'}</html>`
    },
  }
}

/**
 * Answers requests that send an e-mail.
 * @returns false for requests to other services
 */
export const answerMailbox = async (
  mailbox: Mailbox,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> => {
  if (request.method !== 'POST' || request.url !== SEND_PATH) return false
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  try {
    const answer = mailbox.take(Buffer.concat(pieces).toString())
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ message }))
  }
  return true
}
