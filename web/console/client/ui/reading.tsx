import { visible } from '../../../session/text.ts'
import { rich, t } from '../../../ui/messages.ts'
import type { Schemas } from '../api.ts'

type Read = NonNullable<NonNullable<Schemas['Approval']['rule']>['reading']>

const UNREAD: Record<NonNullable<Read['unread']>, string> = {
  missing: t('It isn’t in the call.'),
  content_type: t('The body isn’t sent as JSON or as a form.'),
  method: t('Receivers may ignore the body of a request with this method.'),
  malformed: t('Receivers may parse the call in different ways.'),
  ambiguous: t('The name is there more than once, or in a spelling that receivers may take for it.'),
  not_a_number: t('It isn’t a plain decimal number.'),
}

/** The number by which a rule decides how many people have to approve. */
export const Reading = ({ reading: { field, at_least, value, unread } }: { reading: Read }) => (
  <p>
    {unread === null
      ? rich('The rule reads {field} as {value}. Two people have to approve from {amount} on.', {
          field: <code>{visible(field)}</code>,
          value: <strong>{String(value)}</strong>,
          amount: String(at_least),
        })
      : rich('The rule can’t read {field}, so two people have to approve.', { field: <code>{visible(field)}</code> })}
    {unread !== null && <> {UNREAD[unread]}</>}
  </p>
)
