#include <vector>
#include <map>
#include <string>
#include <algorithm>
#include <cstdio>
struct B{virtual ~B(){} virtual int f(int)=0;}; struct D:B{int k; int f(int x)override{return x*k+m[x];} std::map<int,int> m;};
template<class T> T mx(const std::vector<T>&v){ T b=v[0]; for(auto&x:v) b=std::max(b,x); return b;}
int main(int c,char**v){ std::vector<std::string> s; for(int i=0;i<c;i++) s.push_back(v[i]); std::sort(s.begin(),s.end()); D d; d.k=c; d.m[1]=2; B*b=&d; std::vector<double> dv{1,2,3.5}; std::vector<short> sv{1,2,3}; auto l=[&](int q){return q+d.k;}; printf("%d %f %d %s\n",b->f(1),mx(dv),mx(sv),mx(s).c_str()); return l(3);}
