/**
 * Examples for the documentation of what tells about access.
 * @module
 */
import { explainAccess } from './print-explanation.ts'

const containers = ['/pci/high/']

export const explainExamples = {
  place: {
    application_id: '0e3a9d3c-5d0f-4ac5-b4cb-3f0f2c7c5a44',
    permission: 'token:read',
    place: { containers },
  },
}

export const accessExamples = {
  masked: explainAccess(
    {
      permissions: [],
      rules: [
        { priority: 10, container: '/pci/', transform: 'reveal', permissions: ['token:use'] },
        { priority: 20, container: '/', transform: 'mask', permissions: ['token:read'] },
      ],
    },
    { operation: 'getToken' },
    { id: '', containers },
  ),
}
