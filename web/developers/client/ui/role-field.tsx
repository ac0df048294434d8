import { Field } from '../../../ui/form.tsx'
import { ROLES, type Role } from './roles.ts'

/** Choice of a role, with what the chosen one may do. */
export const RoleField = ({ label, value, onRole }: { label: string; value: Role; onRole: (role: Role) => void }) => (
  <Field label={label} hint={ROLES.find(([role]) => role === value)?.[2]}>
    {(field) => (
      <select {...field} value={value} onChange={({ currentTarget }) => onRole(currentTarget.value as Role)}>
        {ROLES.map(([role, words]) => (
          <option key={role} value={role}>
            {words}
          </option>
        ))}
      </select>
    )}
  </Field>
)
