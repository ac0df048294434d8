import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { plainPage } from '#shared/http/plain-page.ts'
import { RawResponse } from '#shared/http/response.ts'
import { browserLanguage, languageOf } from '#shared/kernel/messages.ts'
import {
  ConfirmEmail,
  confirmAddress,
  EmailAddressSchema,
  PendingEmailSchema,
  readUnsubscribeToken,
  removeAddress,
  requestAddress,
  SetEmail,
  unsubscribe,
  unsubscribeTexts,
} from '#shared/messaging/inbox/index.ts'

const common = { group: 'console', caller: 'console' } as const

const set = defineEndpoint({
  ...common,
  id: 'console.email.set',
  method: 'PUT',
  path: '/console/email',
  summary: 'Choose your e-mail address for notifications',
  description:
    'Sends a code to the address, which `POST /console/email/confirm` takes within an hour. Until then, the address ' +
    'that you had stays in use. Needs a sign-in within the last 10 minutes.',
  body: SetEmail,
  response: PendingEmailSchema,
  errors: ['forbidden', 'mail_not_configured', 'rate_limited', 'confirmation_required'],
  needs: ['table:read', 'table:write', 'keys:data', 'mail'],
  handler: ({ work, caller, body }) => requestAddress(work, caller, body.email),
})

const confirm = defineEndpoint({
  ...common,
  id: 'console.email.confirm',
  method: 'POST',
  path: '/console/email/confirm',
  summary: 'Confirm your e-mail address',
  description: 'After five wrong codes, request another one. You are notified of the new address.',
  body: ConfirmEmail,
  response: EmailAddressSchema,
  errors: ['forbidden'],
  handler: ({ work, caller, body }) => confirmAddress(work, caller, body.code),
})

const remove = defineEndpoint({
  ...common,
  id: 'console.email.remove',
  method: 'DELETE',
  path: '/console/email',
  summary: 'Remove your e-mail address',
  description: 'You get no e-mail from then on. Removing it again has no effect.',
  status: 204,
  handler: async ({ work, caller }) => {
    await removeAddress(work, caller.user.id)
    return undefined
  },
})

const link = {
  group: 'console',
  path: '/console/email/unsubscribe',
  caller: 'none',
  anonymous: 'read',
  produces: 'text/html',
  showsErrors: true,
  query: () =>
    z.object({ token: z.string().max(300).default('').meta({ description: 'From the link of an e-mail.' }) }),
  lenient: true,
  needs: ['table:read', 'table:write'],
} as const

/** Returns the token of a link. Mail programs may add parameters of their own. */
const tokenOf = ({ rawQuery }: { rawQuery: [string, string][] }): string =>
  (rawQuery.find(([name]) => name === 'token')?.[1] ?? '').slice(0, 300)

const page = (language: string, title: string, content: string, hasForm?: true): RawResponse => {
  const { status, headers, body } = plainPage({
    status: 200,
    language: languageOf(language),
    title,
    content,
    ...(hasForm && { hasForm }),
  })
  return new RawResponse(status, headers, body)
}

/** The person is unknown, so the language is the browser's. */
const stale = ({ headers }: { headers: Record<string, string> }): RawResponse => {
  const { language, title, question } = unsubscribeTexts(browserLanguage(headers), undefined)
  return page(language, title, `<p>${question}</p>`)
}

const ask = defineEndpoint({
  ...link,
  id: 'console.email.askToUnsubscribe',
  method: 'GET',
  summary: 'Get the page behind the unsubscribe link of an e-mail',
  description: 'Changes nothing, because mail programs open links to check them.',
  handler: async ({ work, request }) => {
    const found = await readUnsubscribeToken(work, tokenOf(request))
    if (!found) return stale(request)
    const { title, question, button, back } = unsubscribeTexts(found.locale, found.list)
    const content = `<p>${question}</p>\n<form method="post"><button>${button}</button></form>\n<p>${back}</p>`
    return page(found.locale, title, content, true)
  },
})

const end = defineEndpoint({
  ...link,
  id: 'console.email.unsubscribe',
  method: 'POST',
  summary: 'Unsubscribe from e-mail with its link',
  description:
    'For the link in an e-mail and for mail programs (RFC 8058), without a sign-in. A link of a digest ends digests; any ' +
    'other ends all e-mail of its workspace. The body is ignored.',
  consumes: 'ignored',
  handler: async ({ work, request }) => {
    const found = await readUnsubscribeToken(work, tokenOf(request))
    if (!found) return stale(request)
    await unsubscribe(work, found)
    const { doneTitle, done, back } = unsubscribeTexts(found.locale, found.list)
    return page(found.locale, doneTitle, `<p>${done}</p>\n<p>${back}</p>`)
  },
})

export const endpoints = [set, confirm, remove, ask, end]
