import { expect, it } from 'vitest'
import * as z from 'zod'
import { ENTITIES } from '#shared/entities.ts'

const CONTENT = 'something of the person, which only current members reach; kept in case they come back'
const THEMSELVES = 'the person, or the membership itself'
const MOMENT = 'open for minutes, and deciding needs a membership at that moment'
const OPINION = 'an opinion or a report, which gives no right'

/** Fields that name a person without naming a membership, each with the reason for which nothing revives through it. */
const WITHOUT: Record<string, string> = {
  'identity.user_id': THEMSELVES,
  'member.user_id': THEMSELVES,
  'membership.user_id': THEMSELVES,
  'former-member.user_id': THEMSELVES,
  'session.user_id': 'belongs to the person, in all of their workspaces; its tokens name the membership',
  'open-pages.user_id': 'each of their connections names the membership',
  'live-connection.user_id': 'leads to the open pages, which name the membership',
  'a2a-push.grant.user_id': 'its grant names the membership',
  'consent.user_id': MOMENT,
  'consent.session_id': MOMENT,
  'host-consent.user_id': MOMENT,
  'host-consent.session_id': MOMENT,
  'abuse-report.user_id': OPINION,
  'open-abuse-report.user_id': OPINION,
  'request-vote.user_id': OPINION,
  'asked-request.user_id': OPINION,
  'person-updates.user_id': CONTENT,
  'notification.user_id': CONTENT,
  'active-run.user_id': CONTENT,
  'person-day.user_id': CONTENT,
  'read-state.user_id': CONTENT,
  'notification-preferences.user_id': CONTENT,
  'notification-delivery.user_id': CONTENT,
  'person-mail.user_id': CONTENT,
  'notification-mail.user_id': CONTENT,
  'conversation.user_id': CONTENT,
  'person-chat.user_id': CONTENT,
  'read-mark.user_id': CONTENT,
  'desk.user_id': CONTENT,
}

interface Part {
  properties?: Record<string, Part>
  items?: Part
  anyOf?: Part[]
  oneOf?: Part[]
  allOf?: Part[]
}

/** Lists the fields of a record that name people or their sessions, and have no start of a membership next to or above them. */
const namingPeople = (part: Part, path: string, isNamed: boolean): string[] => {
  const fields = Object.entries(part.properties ?? {})
  const named = isNamed || fields.some(([name]) => /^(member|delegate|right|named)_since$/.test(name))
  return [
    ...fields
      .filter(([name]) => !named && /(^|_)(user|session|delegate|approver)_ids?$/.test(name))
      .map(([name]) => `${path}.${name}`),
    ...fields.flatMap(([name, inner]) => namingPeople(inner, `${path}.${name}`, named)),
    ...(part.items ? namingPeople(part.items, path, named) : []),
    ...[part.anyOf, part.oneOf, part.allOf].flatMap((parts = []) =>
      parts.flatMap((one) => namingPeople(one, path, named)),
    ),
  ]
}

it('a record that names a person names their membership, or gives no right that could revive when they join again', () => {
  const found = [...ENTITIES].flatMap(([name, { schema }]) =>
    namingPeople(z.toJSONSchema(schema(), { unrepresentable: 'any' }) as Part, name, false),
  )
  expect(found.filter((field) => !(field in WITHOUT))).toEqual([])
  expect(Object.keys(WITHOUT).filter((field) => !found.includes(field))).toEqual([])
})
