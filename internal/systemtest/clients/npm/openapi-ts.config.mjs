export default {
  input: '../../../../petstore/httpapi/openapi.json',
  output: { path: 'gen', module: { extension: '.js' } },
  plugins: ['@hey-api/client-fetch', { name: '@hey-api/sdk', validator: true }, 'zod'],
}
