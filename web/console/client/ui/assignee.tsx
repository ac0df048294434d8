import { sanitize } from '../../../session/text.ts'
import { useData } from '../../../ui/data.ts'
import { Field } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { api, unwrap } from '../api.ts'

/** Loads the agents that tasks can be assigned to. */
const useAgents = () =>
  useData('installations assignable', () => unwrap(api.GET('/console/agents', { params: { query: { limit: 100 } } })))

/** Loads the people of the workspace. */
const usePeople = () =>
  useData('members assignable', () => unwrap(api.GET('/console/members', { params: { query: { limit: 100 } } })))

/** Agents and people by id, as options. */
export const AssigneeOptions = ({ value = '', people: withPeople }: { value?: string; people?: boolean }) => {
  const agents = useAgents().data?.items ?? []
  return (
    <>
      <optgroup label={t('Agents')}>
        {agents.map((one) => (
          <option key={one.installation_id} value={one.installation_id}>
            {sanitize(one.name)}
          </option>
        ))}
        {value.startsWith('ins_') && !agents.some(({ installation_id }) => installation_id === value) && (
          <option value={value}>{t('Current agent')}</option>
        )}
      </optgroup>
      {withPeople && <People value={value} />}
    </>
  )
}

const People = ({ value }: { value: string }) => {
  const people = usePeople().data?.items ?? []
  return (
    <optgroup label={t('People')}>
      {people.map((one) => (
        <option key={one.id} value={one.id}>
          {sanitize(one.name)}
        </option>
      ))}
      {value.startsWith('usr_') && !people.some(({ id }) => id === value) && (
        <option value={value}>{t('Current assignee')}</option>
      )}
    </optgroup>
  )
}

export const AssigneeField = ({
  value,
  onChange,
  label = t('Agent'),
  people,
}: {
  value: string
  /** @param assignee id of an installation or a person, or empty */
  onChange: (assignee: string) => void
  label?: string
  /** Offers the people of the workspace, too. */
  people?: boolean
}) => (
  <Field label={label}>
    {(field) => (
      <select {...field} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{t('Unassigned')}</option>
        <AssigneeOptions value={value} {...(people && { people })} />
      </select>
    )}
  </Field>
)
