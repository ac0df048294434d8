import { sanitize } from '../../../session/text.ts'
import { useData } from '../../../ui/data.ts'
import { Field } from '../../../ui/form.tsx'
import { api, unwrap } from '../api.ts'

/** Loads the agents that tasks can be assigned to. */
const useAgents = () =>
  useData('installations assignable', () => unwrap(api.GET('/console/agents', { params: { query: { limit: 100 } } })))

export const AssigneeField = ({
  value,
  onChange,
  label = 'Agent',
}: {
  value: string
  onChange: (installation: string) => void
  label?: string
}) => {
  const agents = useAgents()
  const items = agents.data?.items ?? []
  return (
    <Field label={label}>
      {(field) => (
        <select {...field} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">Unassigned</option>
          {items.map((one) => (
            <option key={one.installation_id} value={one.installation_id}>
              {sanitize(one.name)}
            </option>
          ))}
          {value && !items.some(({ installation_id }) => installation_id === value) && (
            <option value={value}>Current agent</option>
          )}
        </select>
      )}
    </Field>
  )
}
