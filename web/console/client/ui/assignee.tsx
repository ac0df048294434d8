import { clean } from '../../../session/text.ts'
import { useData } from '../../../ui/data.ts'
import { Field } from '../../../ui/form.tsx'
import { api, take } from '../api.ts'

/** Agents that a task can be given to. */
const useAgents = () =>
  useData('installations assignable', () => take(api.GET('/console/agents', { params: { query: { limit: 100 } } })))

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
          <option value="">Nobody yet</option>
          {items.map((one) => (
            <option key={one.installation_id} value={one.installation_id}>
              {clean(one.name)}
            </option>
          ))}
          {value && !items.some(({ installation_id }) => installation_id === value) && (
            <option value={value}>Its present agent</option>
          )}
        </select>
      )}
    </Field>
  )
}
