// The bundler takes stylesheets from imports; to the compiler they are nothing.
declare module "*.css";
